#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "threadstore/page.h"
#include "threadstore/run_audit.h"
#include "threadstore/run_budgets.h"
#include "threadstore/run_calls.h"
#include "threadstore/run_log.h"
#include "threadstore/run_memory.h"
#include "threadstore/run_record.h"
#include "threadstore/run_requests.h"
#include "threadstore/run_steps.h"
#include "threadstore/run_trace.h"
#include "threadstore/run_tree.h"
#include "threadstore/run_words.h"
#include "threadstore/turns.h"

namespace threadstore {

namespace state {
struct StoreContext;
}

/// Why a run stopped working, and what was answered.
struct RunSuspension {
  std::int64_t sequence = 0;  ///< of the event that suspended it
  RunOutcome outcome = RunOutcome::needs_user_input;
  RunReason reason_code = RunReason::information_required;
  std::string prompt{};
  std::optional<std::string> assistant_message{};  ///< JSON text
  UnixMillis suspended_at = 0;
  std::optional<std::string> continuation_input{};
  std::optional<UnixMillis> continued_at{};

  friend bool operator==(const RunSuspension&, const RunSuspension&) = default;
};

struct Continuation {
  std::int64_t expected_sequence = 0;    ///< the run's last sequence, as the caller saw it
  std::int64_t suspension_sequence = 0;  ///< which suspension is answered
  std::string input{};                   ///< not blank, at most 8,192 bytes
  /// What the executor goes on from. An object gets `suspended_ms` and, with a timeout,
  /// `original_deadline`. Absent: the newest checkpoint stays.
  std::optional<NewRunCheckpoint> checkpoint{};
};

/// What happened to a call whose owner died in it.
struct EffectAnswer {
  enum class Kind {
    completed,  ///< it happened; `observation` is its result
    retry,      ///< it did not, or may happen twice: the call is requested again
    abort,      ///< nobody knows: the run is given up
  };
  CallId call{};
  Kind kind = Kind::abort;
  std::string observation = "null";  ///< JSON text
  std::string answered_by{};
};

template <>
struct EnumNames<EffectAnswer::Kind> {
  static constexpr std::array table{
      std::pair{EffectAnswer::Kind::completed, std::string_view("completed")},
      std::pair{EffectAnswer::Kind::retry, std::string_view("retry")},
      std::pair{EffectAnswer::Kind::abort, std::string_view("abort")},
  };
};

/// The agent runs of one workspace. A run of another workspace does not exist here. A light handle:
/// copy freely, use from several threads at once; it keeps the store open.
///
/// Every call is one transaction: the change and its events become visible together or not at all,
/// and a failed call uses no sequence up. Unless said otherwise a call throws `not_found` for an
/// unknown run, `conflict` when its state does not allow the step, and `invalid_argument`, before
/// anything is read, when an input breaks a rule.
class Runs {
 public:
  /// The same runs with writes that carry this lease: each is refused as `conflict`, naming the new
  /// owner, once the lease was taken over. An executor works through such a handle.
  Runs holding(const RunId& run, const LeaseToken& lease) const;

  RunLog log() const { return RunLog(scope_); }
  RunCalls calls() const { return RunCalls(scope_); }
  RunAccounts accounts() const { return RunAccounts(scope_); }
  RunCheckpoints checkpoints() const { return RunCheckpoints(scope_); }
  RunArtifacts artifacts() const { return RunArtifacts(scope_); }
  RunProjections projections() const { return RunProjections(scope_); }
  Turns turns() const { return Turns(scope_); }
  RunSteps steps() const { return RunSteps(scope_); }
  RunAudit audit() const { return RunAudit(scope_); }
  RunRequests requests() const { return RunRequests(scope_); }
  RunTree tree() const { return RunTree(scope_); }
  RunTrace trace() const { return RunTrace(scope_); }
  const std::string& workspace() const noexcept;

  /// Makes a root run, active, with `run.started` as its first event.
  Run create(const NewRun& run);
  /// Makes a run below a started `agent.invoke` call, one per call.
  Run create_child(const NewChildRun& child);

  std::optional<Run> find(const RunId& run) const;
  Run get(const RunId& run) const;
  /// Runs whose id starts or ends with `part`, at most `limit`.
  std::vector<Run> find_by_id_part(const std::string& part, std::size_t limit = 20) const;
  /// Newest first, ties by id.
  Page<Run> list(const RunFilter& filter = {}) const;
  RunLineage lineage(const RunId& run) const;
  std::vector<Run> children(const RunId& run) const;  ///< in the order of creation
  RecoveryDisposition recovery_disposition(const RunId& run) const;

  /// Takes the run's lease when nobody alive holds it. When its last holder died, what that left is
  /// settled in the same commit: see `take_over`. `conflict` naming the holder when one lives.
  HeldRun acquire(const RunId& run, const std::string& program);
  /// Takes the lease from whoever holds it. Calls that had started become indeterminate, and the
  /// run is suspended for `effect_unknown` until each has its answer. Calls that were only
  /// requested, or wait for an approval, stay as they are: nothing ran.
  HeldRun take_over(const RunId& run, const std::string& program);
  /// After the last answer the run is active again; `abort` gives it up at once.
  Run answer_effect(const RunId& run, const EffectAnswer& answer);

  /// Stops an active run, and first the active runs below it. A completion is refused while a call
  /// is unfinished or a run below is active. Open calls are closed as interrupted (only requested)
  /// or with the run's own fate (started); those of a run that waits for an approval stay open.
  Run finish(const RunId& run, const RunEnd& end);

  std::optional<RunSuspension> latest_suspension(const RunId& run) const;
  std::vector<RunSuspension> suspensions(const RunId& run) const;
  /// A suspended run goes on; the wait moves its deadline.
  Run continue_suspended(const RunId& run, const Continuation& continuation);
  /// Ends a suspended run as cancelled.
  Run abandon(const RunId& run, const std::string& reason = "");
  /// Makes a failed or cancelled run active again, one that stopped for a limit after its budget
  /// was raised, and one that is active already and without an executor. Refused when its last
  /// sequence is not the expected one, it has parent or children, or an unsafe call.
  Run reopen(const RunId& run, std::int64_t expected_sequence);

  /// Says who offers the run's model; the event is `run.provider_set`. In any lifecycle.
  Run set_provider(const RunId& run, const std::string& provider);

  /// Takes the runs of this workspace off the thread, so that they survive its removal; how many.
  std::int64_t detach(const ThreadId& thread);

 private:
  friend class StateStore;
  friend class RunTrace;
  Runs(std::shared_ptr<state::StoreContext> context, std::string workspace);
  explicit Runs(std::shared_ptr<const state::RunScope> scope) : scope_(std::move(scope)) {}
  HeldRun hold(const RunId& run, const std::string& program, bool from_anybody);
  std::shared_ptr<const state::RunScope> scope_;
};

}  // namespace threadstore
