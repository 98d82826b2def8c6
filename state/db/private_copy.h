#pragma once

#include <filesystem>

namespace threadstore::db {

/// A copy of a database and its -wal in a new directory (0700) of the system's temporary directory,
/// gone at the end of this object's life. For media that SQLite cannot read in place, and for an
/// old schema on a medium that must not change: the copy may be written.
///
/// A child process copies: our own must never open the original files (closing them would drop
/// SQLite's locks). Meant for files that nobody writes; when they change meanwhile, the copy is
/// made again, and a third time in vain is `busy`.
class PrivateCopy {
 public:
  /// Throws `io` (no space, no permission), `busy`.
  explicit PrivateCopy(const std::filesystem::path& database);

  const std::filesystem::path& file() const noexcept { return file_; }

 private:
  struct Directory {
    Directory();
    ~Directory();
    Directory(const Directory&) = delete;
    Directory& operator=(const Directory&) = delete;
    std::filesystem::path path;
  };

  const Directory directory_;
  const std::filesystem::path file_;
};

}  // namespace threadstore::db
