#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "threadstore/doctor.h"
#include "threadstore/ids.h"
#include "threadstore/threads.h"
#include "threadstore/time.h"

namespace threadstore {

struct BackupOptions {
  bool overwrite = false;  ///< replace a file that is already there
  Progress progress{};     ///< pages copied, pages in all
};

/// A copy that `StateStore::backup` made: one file of mode 0600, without a WAL beside it.
struct Backup {
  std::filesystem::path file{};
  std::int64_t bytes = 0;
  std::string sha256{};  ///< of the file, in hexadecimal
  /// Checks of the copy that failed. The copy is exact, so the store has the same damage.
  std::vector<Check> findings{};
};

struct RestoreOptions {
  /// Also restore a backup in which single records are damaged. One that SQLite finds broken is
  /// never restored.
  bool accept_findings = false;
  std::chrono::milliseconds deadline{5000};
  Clock clock = system_clock();
  Progress progress{};
};

struct Restored {
  std::filesystem::path database{};
  /// Where the store lies that was there before; nothing when there was none.
  std::optional<std::filesystem::path> kept{};
  std::vector<Check> findings{};  ///< what was accepted
};

/// Puts the store in `backup` in the place of `database`, at once: a crash leaves the old store or
/// the new one. The old one stays beside it as `<database>.before-restore-<time>`; the session
/// index is made anew. Throws `not_found`, `damaged` (the backup; nothing was changed), `busy`
/// (somebody has the store open), `io`, `invalid_argument`.
Restored restore(const std::filesystem::path& backup, const std::filesystem::path& database,
                 const RestoreOptions& options = {});

/// Something that `StateStore::repair` mended, or left and why.
struct Repair {
  std::string name{};  ///< of the check that it answers: "leaves"
  std::string detail{};

  friend bool operator==(const Repair&, const Repair&) = default;
};

struct SalvagedTable {
  std::string name{};
  std::int64_t rows = 0;  ///< that are in the new store
  /// What could not be read or taken: "rows 17 to 40: database disk image is malformed".
  std::vector<std::string> lost{};

  friend bool operator==(const SalvagedTable&, const SalvagedTable&) = default;
};

struct Salvage {
  std::vector<SalvagedTable> tables{};
  /// Threads whose own record was lost, made anew so that their messages have a home.
  std::vector<ThreadId> placeholders{};

  /// Everything that the source's tables name was read.
  bool complete() const;
};

/// Copies every record of `source` that can be read into a new store at `destination`, and never
/// writes to `source`, its directory included. Throws `not_found`, `conflict` (the destination
/// exists), `damaged` (not a database at all), `invalid_argument` (another program's), `io`.
Salvage salvage(const std::filesystem::path& source, const std::filesystem::path& destination,
                const Progress& progress = {});

}  // namespace threadstore
