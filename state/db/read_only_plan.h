#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "state/db/private_copy.h"

namespace threadstore::db {

/// How a database is opened for reading.
enum class ReadOnlyWay {
  ordinary,      ///< read-only, in place
  immutable,     ///< in place without locks and WAL: nobody can be writing
  private_copy,  ///< a copy, since the WAL holds what the database file does not
};

struct ReadOnlyPlan {
  ReadOnlyWay way = ReadOnlyWay::ordinary;
  std::string location{};               ///< a path, or a URI (SQLITE_OPEN_URI)
  std::shared_ptr<PrivateCopy> copy{};  ///< keep it while a connection is open; null for other ways
};

/// SQLite cannot open a WAL database, not even for reading, in a directory that it may not write
/// to, unless -wal and -shm are there. So an ordinary open is tried first. When it fails and the
/// directory is not writable: without a WAL, or with an empty one, nobody has the database open
/// and the file is complete; with one, its frames count, and a private copy is read. Any other
/// failure is left to the open itself. Creates nothing beside the database.
/// Throws what `PrivateCopy` throws.
ReadOnlyPlan plan_read_only(const std::filesystem::path& database);

}  // namespace threadstore::db
