#include "session_index/index_file.h"

#include <fcntl.h>

#include <utility>

namespace threadstore::session_index {
namespace {

std::filesystem::path beside(const std::filesystem::path& file, const char* suffix) {
  std::filesystem::path other = file;
  other += suffix;
  return other;
}

}  // namespace

IndexFile::IndexFile(std::filesystem::path file)
    : file_(std::move(file)), lock_file_(beside(file_, ".lock")) {}

std::filesystem::path IndexFile::directory() const {
  return file_.has_parent_path() ? file_.parent_path() : ".";
}

base::FileLock::Guard IndexFile::lock(const base::Deadline& deadline) const {
  base::FileLock* lock = lock_;
  if (lock == nullptr || !lock->is_at(lock_file_)) {
    base::make_directories(directory());
    lock_ = lock = &base::FileLock::at(lock_file_);
  }
  return lock->acquire(deadline);
}

bool IndexFile::is_torn(const base::File& file, std::int64_t size) {
  return size > 0 && file.read_at(size - 1, 1) != "\n";
}

IndexFile::Growth IndexFile::append(std::string_view lines) {
  const base::FileStatus before = open_current();
  std::string record(is_torn(*opened_, before.size) ? "\n" : "");
  record += lines;
  opened_->append(record);
  return {before.size, before.size + static_cast<std::int64_t>(record.size())};
}

void IndexFile::sync() {
  if (!opened_) return;
  try {
    opened_->sync_data();
  } catch (...) {
    opened_.reset();
    throw;
  }
}

base::FileStatus IndexFile::open_current() {
  if (opened_) {
    const std::optional<base::FileStatus> named = base::file_status(file_);
    if (named && named->same_file(opened_->status())) return *named;
    opened_.reset();
  }
  base::File file = base::File::open_or_create(file_, O_RDWR | O_APPEND);
  // Whoever made it may have died, or never synced its name.
  base::sync_directory(directory());
  opened_ = std::move(file);
  return opened_->status();
}

void IndexFile::close_torn_line() {
  const base::FileStatus now = open_current();
  if (is_torn(*opened_, now.size)) opened_->append("\n");
}

void IndexFile::replace(std::string_view content) {
  base::replace_file(file_, beside(file_, ".compact"), content);
}

}  // namespace threadstore::session_index
