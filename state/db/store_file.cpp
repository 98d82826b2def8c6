#include "state/db/store_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <system_error>

#include "base/files.h"
#include "state/db/file_system.h"
#include "threadstore/error.h"

namespace threadstore::db {
namespace fs = std::filesystem;

fs::path StoreFile::real_path(const fs::path& file) {
  std::error_code failure;
  const fs::path real = fs::weakly_canonical(fs::absolute(file), failure);
  if (failure) base::throw_io("open", file, failure.value());
  return real;
}

StoreFile::StoreFile(const fs::path& file, const Options& options) {
  if (options.mode == Mode::memory) {
    path_ = file;
    target_ = {.file = "the in-memory store", .location = ":memory:"};
    return;
  }
  path_ = real_path(file);
  target_ = {.file = path_.string(), .location = path_.string()};
  if (const auto network = network_file_system(path_)) {
    target_.network = true;
    options.notice("the store " + path_.string() + " lies on a network file system (" +
                   network->type + " at " + network->mount_point.string() +
                   "), where SQLite's WAL is not safe: a new store there uses a rollback journal, "
                   "which is slower. Keep it on a local disk with --home or --db");
  }
  if (options.mode == Mode::read_write) create_when_missing();
  remember_identity(options);
  if (options.mode == Mode::read_only) {
    read_only_ = plan_read_only(path_);
    target_.location = read_only_.location;
    target_.read_only = true;
  }
}

StoreFile::~StoreFile() = default;
StoreFile::StoreFile(StoreFile&&) noexcept = default;

void StoreFile::create_when_missing() {
  struct stat status {};
  if (::stat(path_.c_str(), &status) == 0) return;
  if (errno != ENOENT) base::throw_io("open", path_, errno);
  base::make_directories(path_.parent_path());
  // Exclusive: two processes may start at once, and only one of them made it.
  created_ = base::File::create(path_, O_RDWR).has_value();
  if (created_) base::sync_directory(path_.parent_path());
}

void StoreFile::remember_identity(const Options& options) {
  struct stat status {};
  if (::stat(path_.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) {
      throw Error(ErrorCode::not_found, "there is no store at " + path_.string());
    }
    base::throw_io("open", path_, errno);
  }
  if (S_ISDIR(status.st_mode)) {
    throw Error(ErrorCode::invalid_argument,
                "cannot open " + path_.string() + ": it is a directory; name the database file");
  }
  if (status.st_nlink > 1 && options.notice) {
    options.notice("the store " + path_.string() + " has " + std::to_string(status.st_nlink) +
                   " names (hard links): opened by two names at once it would be damaged; copy it "
                   "with threadstore backup instead");
  }
  device_ = status.st_dev;
  inode_ = status.st_ino;
}

void StoreFile::check_in_place() const {
  if (inode_ == 0) return;
  struct stat status {};
  if (::stat(path_.c_str(), &status) == 0 && status.st_dev == device_ && status.st_ino == inode_) {
    return;
  }
  throw Error(IoReason::store_replaced,
              "the store " + path_.string() +
                  " was moved, deleted or replaced while it was open; nothing was written to the "
                  "file that is there now. Open the store again");
}

}  // namespace threadstore::db
