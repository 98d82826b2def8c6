#pragma once

#include <chrono>
#include <filesystem>
#include <memory>

struct sqlite3;

namespace threadstore::db {

/// Keeps everybody out of a database while its file is replaced: SQLite's exclusive lock, which no
/// connection of any program, this process included, can share. All that was committed is in the
/// file then, and no WAL lies beside it.
class ExclusiveHold {
 public:
  /// Throws `busy`, naming who has it open, when the lock is not free within the wait. A file that
  /// SQLite cannot read cannot be locked by it; then the locks that the system knows decide, and
  /// `drained` is false.
  ExclusiveHold(const std::filesystem::path& database, std::chrono::milliseconds wait);
  ~ExclusiveHold();
  ExclusiveHold(const ExclusiveHold&) = delete;
  ExclusiveHold& operator=(const ExclusiveHold&) = delete;

  /// False: the file is damaged, and its -wal may still be there.
  bool drained() const noexcept { return handle_ != nullptr; }

 private:
  std::unique_ptr<sqlite3, int (*)(sqlite3*)> handle_;
};

}  // namespace threadstore::db
