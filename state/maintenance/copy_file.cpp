#include "state/maintenance/copy_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "base/file_names.h"
#include "base/files.h"
#include "state/doctor.h"
#include "state/schema/schema.h"
#include "threadstore/error.h"

namespace threadstore::state {
namespace fs = std::filesystem;
namespace {

/// Its last number is the process, by which the doctor knows whether it is left over.
fs::path temporary_name(const fs::path& target) {
  static std::atomic<int> number{0};
  return target.string() + "." + std::to_string(++number) + "." + std::to_string(::getpid()) +
         ".tmp";
}

}  // namespace

UnpublishedFile::UnpublishedFile(const fs::path& target)
    : target_(target), temporary_(temporary_name(target)) {
  if (!fs::is_directory(target.parent_path())) {
    throw Error(IoReason::other, "cannot write " + target.string() + ": there is no directory " +
                                     target.parent_path().string());
  }
  base::remove_name(temporary_);
  if (!base::File::create(temporary_, O_RDWR)) base::throw_io("create", temporary_, EEXIST);
}

UnpublishedFile::~UnpublishedFile() {
  for (const char* part : {"", "-journal", "-wal", "-shm", ".gate"}) {
    base::remove_name(temporary_.string() + part);
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
    base::rename_file(temporary_, target_);
  } else if (!base::rename_to_free_name(temporary_, target_)) {
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
