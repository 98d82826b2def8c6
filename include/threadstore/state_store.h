#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "threadstore/checkpoints.h"
#include "threadstore/doctor.h"
#include "threadstore/error.h"
#include "threadstore/goals.h"
#include "threadstore/jobs.h"
#include "threadstore/leases.h"
#include "threadstore/maintenance.h"
#include "threadstore/messages.h"
#include "threadstore/runs.h"
#include "threadstore/search.h"
#include "threadstore/session_index.h"
#include "threadstore/threads.h"
#include "threadstore/tools.h"
#include "threadstore/workflow_trace.h"

namespace threadstore {

enum class OpenMode {
  read_write,  ///< creates directory and database when missing; migrates an older schema
  /// Creates and changes nothing (but for `search.db`, which a search keeps where it can); a
  /// missing store is `not_found`. A store of an older schema is read from a private, migrated
  /// copy: as it was at the moment of opening.
  read_only,
  memory,  ///< a private store that never reaches the disk; no index file
};

struct OpenOptions {
  OpenMode mode = OpenMode::read_write;
  /// Covers mutex, writer gate and BEGIN of one call together.
  std::chrono::milliseconds deadline{5000};
  Clock clock = system_clock();
  /// The most bytes of one payload, arguments, result, output or checkpoint that this store takes
  /// from an agent run; more is `invalid_argument`. 1 byte to 128 MiB. It
  /// bounds what is written, not what is read.
  std::size_t run_content_limit = default_run_content_limit;
  /// Called for what a person should hear once: a migration with its backup, an affected SQLite
  /// library under a risk, a network file system. Also logged.
  std::function<void(const std::string&)> notice{};
};

/// The store: one SQLite database with everything in it, and the session index beside it.
///
/// Thread-safe: use one store from as many threads as you like; copies are handles on the same
/// connections, and so are stores opened on the same file in one process. Reads never wait for a
/// writer. After fork(2) only exec: do not use a store in the child.
class StateStore {
 public:
  /// Opens `database` (see `Paths::database` for the default place). Throws `damaged` (not a
  /// database, malformed), `newer_format`, `io`, `busy`, `invalid_argument`, each naming the file
  /// or the option.
  static StateStore open(const std::filesystem::path& database, const OpenOptions& options = {});
  /// The default place of the format.
  static StateStore open();
  /// A private in-memory store.
  static StateStore in_memory(OpenOptions options = {});

  Threads threads() const;
  Messages messages() const;
  Checkpoints checkpoints() const;
  Tools tools() const;
  Goals goals() const;
  Jobs jobs() const;
  Workflows workflows() const;
  Leases leases() const;
  Search search() const;
  /// The agent runs of a workspace: any text that is not blank; the program uses a directory.
  Runs runs(const std::string& workspace) const;
  /// Null for an in-memory store.
  SessionIndex* index() const;

  /// Runs `body` in one write transaction: all of its writes or, when it throws, none. Nested calls
  /// are savepoints. Bound to the calling thread, whose reads then see its writes; other threads
  /// wait. Holds the write lock of all processes: no user input and no long work inside.
  void transaction(const std::function<void()>& body) const;

  /// A number that differs after any commit of any process, this one included. Compare for equality
  /// only. Take it before you read what you will show, then wait for its change.
  std::int64_t change_mark() const;

  /// Waits until the mark is no longer `seen`, at most `timeout`; says whether it changed. Costs
  /// one tiny read every few milliseconds.
  bool wait_for_change(std::int64_t seen, std::chrono::milliseconds timeout) const;

  /// Compares the index with the database: existence, name and path. Empty for an in-memory store.
  IndexDifference verify_index() const;
  /// Appends what is missing or different and tombstones for what is extra; returns what differed.
  IndexDifference repair_index() const;
  /// Replaces the index by what the database says; returns what differed.
  IndexDifference rebuild_index() const;
  /// Changed threads whose line is not known to be in the index yet.
  std::int64_t index_backlog() const;

  /// Looks at everything that can be checked without changing anything (`docs/doctor.md`). Reads
  /// the whole store.
  std::vector<Check> check() const;
  StoreStats stats() const;

  /// Mends what is safe to mend: file modes, left-over temporaries, unfinished removals, leaves
  /// that point nowhere, the index. Before rows change, the store is backed up beside itself
  /// (`<database>.before-repair-<time>`). Says what it did; `check` tells what remains.
  std::vector<Repair> repair() const;

  /// Copies the store, as it is at one moment, to `file` while others go on writing; checks the
  /// copy, syncs it and renames it into place. A crash leaves no half backup under that name.
  /// Throws `conflict` (the file exists), `damaged` (SQLite finds the store broken: see `salvage`),
  /// `io`, `invalid_argument` (a store in memory, or inside a transaction).
  Backup backup(const std::filesystem::path& file, const BackupOptions& options = {}) const;

  const std::filesystem::path& path() const;
  /// True when a store of an older schema is read from a private copy: it does not follow changes.
  bool is_snapshot() const;

 private:
  friend class Transfer;
  explicit StateStore(std::shared_ptr<state::StoreContext> context);
  std::shared_ptr<state::StoreContext> context_;
};

}  // namespace threadstore
