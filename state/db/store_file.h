#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "state/db/connection.h"
#include "state/db/database.h"
#include "state/db/read_only_plan.h"

namespace threadstore::db {

/// The database file as a thing in a directory: made private, found again, noticed when it is
/// replaced. Never opens a descriptor of it once SQLite has it (closing one drops SQLite's locks).
class StoreFile {
 public:
  /// Resolves `file` to its real path, makes directory (0700) and file (0600) when `options.mode`
  /// allows and they are missing, and decides how SQLite is to open it. Throws `Error` naming the
  /// path: not_found (read-only mode, nothing there), io, invalid_argument (a directory).
  StoreFile(const std::filesystem::path& file, const Options& options);
  ~StoreFile();
  StoreFile(StoreFile&&) noexcept;

  /// The path that names the store everywhere: symbolic links resolved.
  static std::filesystem::path real_path(const std::filesystem::path& file);

  const std::filesystem::path& path() const noexcept { return path_; }
  const Target& target() const noexcept { return target_; }
  bool created() const noexcept { return created_; }

  /// Throws `io` (store_replaced) when the path no longer leads to the file that was opened.
  void check_in_place() const;

 private:
  void create_when_missing();
  void remember_identity(const Options& options);

  std::filesystem::path path_;
  Target target_;
  bool created_ = false;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  ReadOnlyPlan read_only_;  ///< a private copy lives as long as this
};

}  // namespace threadstore::db
