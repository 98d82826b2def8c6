#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "threadstore/ids.h"
#include "threadstore/run_audit.h"
#include "threadstore/run_record.h"
#include "threadstore/run_requests.h"
#include "threadstore/run_steps.h"
#include "threadstore/run_tree.h"
#include "threadstore/run_words.h"

namespace threadstore {

namespace state {
struct RunScope;
}

/// What a harness that thinks in steps says of a new run.
struct NewTrace {
  std::string goal{};  ///< may be empty, like `file`
  std::string file{};
  std::string agent_name = "harness";
  std::string agent_version = "1";
  std::string model = "unknown";
  std::optional<std::string> provider{};
};

/// Who decided a deferred approval: the caller, or somebody before it.
struct Resolution {
  bool won = false;
  DeferredApproval request{};  ///< with the decision that counts
};

/// The runs of one workspace as a step trace, for a harness that works in numbered steps: it starts
/// a run, commits each step, asks when it may not, resumes behind the last committed step, and
/// finishes with a word. Everything here is a shorthand for the other groups of `Runs`, which see
/// the same runs. A light handle like `Runs`; every call is atomic, and throws `not_found` for an
/// unknown run, reads included.
class RunTrace {
 public:
  RunId start_run(const NewTrace& run);
  /// A child without a contract. The parent must be active; the depth follows from it.
  RunId start_child_run(const RunId& parent, const NewTrace& run);
  void set_provider(const RunId& run, const std::string& name);
  std::optional<std::string> provider(const RunId& run) const;

  RunStatus status(const RunId& run) const;
  /// Brings a run into that status: running resumes it, paused lets it wait for a decision,
  /// completed and failed finish it. Nothing happens when it has it.
  void set_status(const RunId& run, RunStatus status);
  /// Stops a run that is running or paused: `awaiting_approval` pauses it, every other word ends it
  /// (docs/runs.md lists the words; an unknown one is a failure). The word is kept. `conflict` when
  /// the run is over, or is paused already and would be paused again.
  void finish_run(const RunId& run, const std::string& outcome);
  /// The word that it stopped with; nothing while it runs.
  std::optional<std::string> outcome(const RunId& run) const;

  std::optional<RunId> parent(const RunId& run) const;
  std::int64_t depth(const RunId& run) const;
  std::vector<RunId> children(const RunId& run) const;  ///< in the order of creation
  /// From its start to its end, or until now; a restart of the program changes nothing.
  double elapsed_secs(const RunId& run) const;
  std::vector<RunId> tree_run_ids(const RunId& root) const;
  std::int64_t agent_count_tree(const RunId& root) const;

  RunStep record(const RunId& run, const NewStep& step);           ///< see `RunSteps::record`
  RunStep checkpoint_step(const RunId& run, const NewStep& step);  ///< see `RunSteps::commit`
  std::vector<RunStep> steps(const RunId& run) const;              ///< all, by step and attempt
  std::int64_t last_step(const RunId& run) const;
  std::int64_t last_committed_step(const RunId& run) const;
  std::int64_t spent_tokens(const RunId& run) const;
  std::int64_t spent_tokens_tree(const RunId& root) const;

  /// Throws when the run cannot be driven on from this file: `newer_format`, with both numbers,
  /// when a newer program changed the file meanwhile, `not_found` when the run is not there.
  void check_resumable(const RunId& run) const;
  ResumePoint resume(const RunId& run, const std::string& detail = "");  ///< `RunSteps::resume`
  std::vector<StepEvent> checkpoint_events(const RunId& run) const;

  std::int64_t record_event(const RunId& run, const PolicyEvent& event);
  std::vector<PolicyEvent> events(const RunId& run) const;
  std::int64_t record_agent_event(const RunId& run, const DelegationEvent& event);
  std::vector<DelegationEvent> agent_events(const RunId& run) const;
  std::int64_t record_sandbox_event(const RunId& run, const SandboxEvent& event);
  std::vector<SandboxEvent> sandbox_events(const RunId& run) const;

  RequestId put_pending(const RunId& run, const NewRequest& request);
  std::optional<DeferredApproval> pending(RequestId request) const;
  /// The first decision wins; the answer says which that was and whose.
  Resolution resolve_pending(RequestId request, const Decision& decision);
  std::vector<DeferredApproval> pending_approvals() const;  ///< of all runs, oldest first
  std::vector<DeferredApproval> pending_approvals(const RunId& run) const;

  Spawned spawn_child(const NewSpawn& spawn);  ///< see `RunTree::spawn`
  std::optional<SpawnContract> find_spawn(const RunId& parent, std::int64_t step,
                                          const std::string& goal) const;

 private:
  friend class Runs;
  explicit RunTrace(std::shared_ptr<const state::RunScope> scope) : scope_(std::move(scope)) {}
  std::shared_ptr<const state::RunScope> scope_;
};

}  // namespace threadstore
