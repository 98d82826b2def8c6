#pragma once

#include <filesystem>

namespace threadstore::db {

/// A new directory (0700) in the system's temporary directory, removed with what is in it.
class TemporaryDirectory {
 public:
  TemporaryDirectory();  ///< throws `io`
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

/// A copy of a database and its -wal in a temporary directory, gone at the end of this object's
/// life. For media that SQLite cannot read in place, and for an old schema on a medium that must
/// not change: the copy may be written.
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
  const TemporaryDirectory directory_;
  const std::filesystem::path file_;
};

}  // namespace threadstore::db
