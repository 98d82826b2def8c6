#include "state/maintenance/copy_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>

#include "base/files.h"
#include "state/doctor.h"
#include "state/schema/schema.h"
#include "threadstore/error.h"

namespace threadstore::state {
namespace fs = std::filesystem;
namespace {

/// rename(2) that never replaces; on a file system without that a look before.
bool rename_to_free_name(const fs::path& from, const fs::path& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno == EEXIST) return false;
  if (errno != EINVAL && errno != ENOSYS) base::throw_io("make", to, errno);
  if (fs::exists(fs::symlink_status(to))) return false;
  fs::rename(from, to);
  return true;
}

/// Its last number is the process, by which the doctor knows whether it is left over.
fs::path temporary_name(const fs::path& target) {
  static std::atomic<int> number{0};
  return target.string() + "." + std::to_string(++number) + "." + std::to_string(::getpid()) +
         ".tmp";
}

}  // namespace

UnpublishedFile::UnpublishedFile(const fs::path& target)
    : target_(target), temporary_(temporary_name(target)) {
  std::error_code ignored;
  fs::remove(temporary_, ignored);
  if (!base::File::create(temporary_, O_RDWR)) base::throw_io("create", temporary_, EEXIST);
}

UnpublishedFile::~UnpublishedFile() {
  std::error_code ignored;
  for (const char* part : {"", "-journal", "-wal", "-shm", ".gate"}) {
    fs::remove(temporary_.string() + part, ignored);
  }
}

std::int64_t UnpublishedFile::sync() {
  auto file = base::File::open(temporary_, O_RDWR);
  if (!file) base::throw_io("sync", temporary_, ENOENT);
  file->sync();
  return file->status().size;
}

void UnpublishedFile::publish(bool overwrite) {
  if (overwrite) {
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) base::throw_io("make", target_, errno);
  } else if (!rename_to_free_name(temporary_, target_)) {
    throw_exists(target_);
  }
  base::sync_directory(target_.parent_path());
}

void throw_exists(const fs::path& file) {
  throw Error(ErrorCode::conflict,
              "cannot write " + file.string() + ": it exists already; choose another name");
}

std::vector<Check> verify_copy(const fs::path& file) {
  StoreContext context;
  context.file = file;
  context.database = db::Database::open(file, {.mode = db::Mode::read_only});
  std::vector<Check> failed;
  for (Check& check : check_content(context, WhenRefused::throw_error)) {
    if (check.status != CheckStatus::failed) continue;
    if (check.name == "integrity") {
      throw Error(ErrorCode::damaged,
                  "the copy of the store is damaged, so the original is: " + check.detail +
                      ". 'threadstore salvage' gets what is readable");
    }
    failed.push_back(std::move(check));
  }
  return failed;
}

fs::path name_beside(const fs::path& database, const std::string& what, UnixMillis now) {
  const std::time_t seconds = now / 1000;
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  char time[64];
  std::snprintf(time, sizeof time, "%04d%02d%02dT%02d%02d%02dZ", utc.tm_year + 1900, utc.tm_mon + 1,
                utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
  const std::string name = database.string() + "." + what + "-" + time;
  fs::path free = name;
  for (int number = 2; fs::exists(fs::symlink_status(free)); ++number) {
    free = name + "-" + std::to_string(number);
  }
  return free;
}

}  // namespace threadstore::state
