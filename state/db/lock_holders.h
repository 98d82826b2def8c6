#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace threadstore::db {

/// A process that holds a lock on a file, as /proc/locks tells.
struct LockHolder {
  pid_t pid = 0;
  std::string program;  // empty when /proc does not tell

  bool operator==(const LockHolder&) const = default;
};

/// Which locks to look for. Byte ranges are those of the POSIX family; flock covers the whole file.
struct LockQuery {
  bool flock = false;
  std::uint64_t first_byte = 0;
  std::uint64_t last_byte = UINT64_MAX;
};

/// The bytes of a -shm file that SQLite locks (its file format, section 2.3.1).
inline constexpr LockQuery wal_writer_lock{.first_byte = 120, .last_byte = 120};
inline constexpr LockQuery wal_reader_locks{.first_byte = 123, .last_byte = 127};

/// The processes that hold such a lock on `file`, each once, this process included. Empty where
/// /proc is missing or numbers the devices differently (btrfs, overlays). The file is only stat'ed:
/// opening and closing it would drop SQLite's locks. Never throws.
std::vector<LockHolder> lock_holders(const std::filesystem::path& file, const LockQuery& query);

/// "process 4711 (sqlite3)", several joined by ", "; "this process" for our own; empty for none.
std::string describe(const std::vector<LockHolder>& holders);

}  // namespace threadstore::db
