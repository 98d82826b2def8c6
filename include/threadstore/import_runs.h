#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "threadstore/enum_names.h"
#include "threadstore/state_store.h"

namespace threadstore {

/// Whose database it is.
enum class RunStoreKind { io_harness, context_harness };

template <>
struct EnumNames<RunStoreKind> {
  static constexpr std::array table{
      std::pair{RunStoreKind::io_harness, std::string_view("io-harness")},
      std::pair{RunStoreKind::context_harness, std::string_view("context-harness")},
  };
};

struct ImportRunsOptions {
  /// Where runs go whose source knows no workspaces (io-harness). Not blank.
  std::string workspace{};
  bool dry_run = false;  ///< say what would come; write nothing
  /// How many of the source's runs were looked at, of how many; on the calling thread.
  std::function<void(std::int64_t done, std::int64_t total)> progress{};
};

/// What was new, by kind.
struct ImportedRuns {
  std::int64_t runs = 0;
  std::int64_t grown = 0;   ///< runs that were there and got something new
  std::int64_t events = 0;  ///< of the log: those of steps and requests too
  std::int64_t steps = 0;
  std::int64_t requests = 0;
  std::int64_t spawns = 0;
  std::int64_t calls = 0;
  std::int64_t approvals = 0;
  std::int64_t artifacts = 0;
  std::int64_t checkpoints = 0;
  std::int64_t suspensions = 0;

  friend bool operator==(const ImportedRuns&, const ImportedRuns&) = default;
};

/// Something of the source that could not be taken, or only in part.
struct NotUnderstood {
  std::string where{};  ///< "run 3, step 2", "table spawns"
  std::string why{};

  friend bool operator==(const NotUnderstood&, const NotUnderstood&) = default;
};

struct ImportRunsReport {
  std::filesystem::path source{};
  RunStoreKind kind = RunStoreKind::io_harness;
  std::string release{};      ///< of the program whose layout the file has; empty: unknown
  std::string fingerprint{};  ///< what the source is known by: `Run::origin_source`
  ImportedRuns imported{};
  std::int64_t already_present = 0;             ///< runs of which nothing was new
  std::vector<NotUnderstood> not_understood{};  ///< the first 1,000
  std::int64_t not_understood_total = 0;
};

/// Takes the runs of another run store into this one (docs/import_export.md): an io-harness
/// `runs.db` of any release from 0.1 to 0.7, or a context-harness database. Known by its tables;
/// its bytes do not change, nor do those of a journal beside it.
///
/// Every run comes with all that belongs to it, and keeps its id there as `origin_id`. Importing
/// again adds only what is new: a source is known by its fingerprint, of its first run's goal, file
/// and start; of its path instead of the start when it has none. A run that was worked on here
/// since is left alone and reported. Each run is one transaction: what was stored before a failure
/// stays, and the next import goes on from there.
///
/// Throws `not_found` (the file), `io`, `newer_format` (both numbers are named; details: format,
/// supported), `invalid_argument` (neither store; the message says what it looks like) and
/// `damaged` before anything was stored; later what the store throws.
ImportRunsReport import_runs(StateStore store, const std::filesystem::path& file,
                             const ImportRunsOptions& options);

}  // namespace threadstore
