#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "threadstore/foreign_trace.h"
#include "threadstore/state_store.h"

namespace threadstore {

/// Where a run is found: its id, and the workspace that it belongs to.
struct RunPlace {
  RunId id{};
  std::string workspace_id{};

  friend bool operator==(const RunPlace&, const RunPlace&) = default;
};

/// A workspace, and how many runs it has.
struct RunWorkspace {
  std::string workspace_id{};
  std::int64_t runs = 0;

  friend bool operator==(const RunWorkspace&, const RunWorkspace&) = default;
};

/// A run with all that belongs to it, as its rows say. The fields of `run` that are worked out when
/// it is read (elapsed times, recovery disposition, `interrupted`) are not part of it.
struct RunRecord {
  Run run{};
  UnixMillis active_since = 0;  ///< when it began to work, or went on
  bool budget_raised = false;
  RunUsage usage_below{};  ///< the part of `run.usage` that runs below were charged with
  std::int64_t removed_step_tokens = 0;  ///< of the steps of runs below that are gone
  std::vector<RunCall> calls{};
  std::vector<RunApproval> approvals{};
  std::vector<RunSuspension> suspensions{};
  std::vector<RunCheckpoint> checkpoints{};  ///< with their states, oldest first
  std::vector<RunArtifact> artifacts{};
  std::vector<RunStep> steps{};              ///< by step and attempt
  std::vector<DeferredApproval> requests{};  ///< in the order of asking
  std::vector<SpawnContract> spawned_for{};  ///< contracts that its parents spawned it for

  friend bool operator==(const RunRecord&, const RunRecord&) = default;
};

/// Reading and writing of records as they stand, for moving threads between stores: times, ids and
/// outcomes are the caller's, nothing is logged, charged or concluded. Everybody else uses the
/// groups of `StateStore`. A light handle like `Threads`; every call is atomic.
class Transfer {
 public:
  explicit Transfer(const StateStore& store);

  /// Every workspace that has runs, the one with the most first.
  std::vector<RunWorkspace> run_workspaces() const;
  /// The thread's runs of all workspaces, parents before the runs below them. Runs without a thread
  /// belong to none.
  std::vector<RunPlace> runs_of(const ThreadId& thread) const;
  /// Throws `not_found`.
  RunRecord run(const RunId& run) const;

  /// The idempotency keys of the messages that the thread shows, by message; those of inherited
  /// messages are their owners'.
  std::vector<std::pair<MessageId, std::string>> keys_of(const ThreadId& thread) const;

  /// Stores a run with its log: `events` are all of it, with the sequences 1, 2, 3 …; their `gid`s
  /// are given anew. So are the numbers of its requests, in the events too; the numbers that the
  /// record has are kept as `origin_id`, unless that is set. The tokens of its steps are added to
  /// the sums of all runs above it. False, with nothing changed, when the store has a run of that
  /// id, or one of the workspace with that origin. A creation key that another run of the workspace
  /// has is left out. Throws `invalid_argument` when the record contradicts itself (sequences,
  /// JSON, lifecycle and outcome), `not_found` when its thread or parent is not there, and
  /// `conflict` when a sum of tokens would leave 63 bits.
  bool put_run(const RunRecord& record, const std::vector<RunEvent>& events);

  /// Takes a run of a store that thinks in steps: all of it, or what came since it was taken last.
  /// The run's first event marks what came from there; a run with later events is left as it is
  /// (`went_on`). With `dry_run` says what it would do. Throws `invalid_argument` for what no run
  /// can hold, `not_found` when its parent is not there, `conflict` when it lies too deep or a sum
  /// of tokens would leave 63 bits.
  TakenRun take_trace(const ForeignTrace& trace, bool dry_run = false);

  /// The same for a run with a log of its own, which `events` are all of. Calls, checkpoints and
  /// suspensions of the record are taken; what the log tells of calls, approvals and artifacts is
  /// taken from it. Lifecycle and usage are the record's. A log that is not the beginning of the
  /// one in the store was changed there: `went_on`.
  TakenRun take_run(const RunRecord& record, const std::vector<RunEvent>& events,
                    bool dry_run = false);

  /// Stores a checkpoint with its time and leaf. One of that id with an equal or later time stays:
  /// false. It becomes the latest among those of its second.
  bool put_checkpoint(const Checkpoint& checkpoint);

  /// Says that the thread came from another one, which need not be there. False when it has an
  /// origin already. The message must be one that the thread shows.
  bool put_origin(const ThreadId& thread, const ForkOrigin& origin);

 private:
  std::shared_ptr<state::StoreContext> context_;
};

}  // namespace threadstore
