#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "threadstore/enum_names.h"
#include "threadstore/ids.h"
#include "threadstore/page.h"
#include "threadstore/time.h"

namespace threadstore {

namespace state {
struct StoreContext;
}

using BranchRunId = TextId<struct BranchRunIdTag>;
using LeafRunId = TextId<struct LeafRunIdTag>;
using ControlNodeRunId = TextId<struct ControlNodeRunIdTag>;
using TeacherCandidateId = TextId<struct TeacherCandidateIdTag>;

enum class TraceStatus { running, completed, failed, cancelled, skipped };

/// An unknown word reads as `failed`: its output must never be taken for a finished one.
template <>
struct EnumNames<TraceStatus> {
  static constexpr std::array table{
      std::pair{TraceStatus::running, std::string_view("running")},
      std::pair{TraceStatus::completed, std::string_view("completed")},
      std::pair{TraceStatus::failed, std::string_view("failed")},
      std::pair{TraceStatus::cancelled, std::string_view("cancelled")},
      std::pair{TraceStatus::skipped, std::string_view("skipped")},
  };
};

// Fields named *_json hold any JSON value as its writer gave it, byte for byte. When a record is
// started, an empty id is replaced by a UUIDv7; `completed_at` stays absent until it is finished.

/// One execution of a workflow.
struct WorkflowRun {
  WorkflowRunId id{};
  std::string workflow_id{};  ///< which workflow; any number of runs may share it
  std::string goal{};
  TraceStatus status = TraceStatus::running;
  std::optional<std::string> input_hash{};
  UnixSeconds started_at = 0;
  std::optional<UnixSeconds> completed_at{};
  std::string metadata_json = "{}";

  friend bool operator==(const WorkflowRun&, const WorkflowRun&) = default;
};

/// One branch of a run.
struct BranchRun {
  BranchRunId id{};
  WorkflowRunId workflow_run_id{};
  std::string branch_id{};
  std::string node_id{};
  TraceStatus status = TraceStatus::running;
  UnixSeconds started_at = 0;
  std::optional<UnixSeconds> completed_at{};
  std::string result_json = "{}";

  friend bool operator==(const BranchRun&, const BranchRun&) = default;
};

/// One piece of work in a run, in a branch or beside all branches.
struct LeafRun {
  LeafRunId id{};
  WorkflowRunId workflow_run_id{};
  std::optional<BranchRunId> branch_run_id{};
  std::string leaf_id{};
  std::string task_id{};
  std::optional<std::string> input_hash{};
  TraceStatus status = TraceStatus::running;
  std::string output_json = "{}";
  std::string artifacts_json = "[]";
  UnixSeconds started_at = 0;
  std::optional<UnixSeconds> completed_at{};

  friend bool operator==(const LeafRun&, const LeafRun&) = default;
};

/// One decision of a run: which children go on.
struct ControlNodeRun {
  ControlNodeRunId id{};
  WorkflowRunId workflow_run_id{};
  std::string node_id{};
  std::string kind{};
  TraceStatus status = TraceStatus::running;
  std::string selected_children_json = "[]";
  std::string result_json = "{}";
  UnixSeconds started_at = 0;
  std::optional<UnixSeconds> completed_at{};

  friend bool operator==(const ControlNodeRun&, const ControlNodeRun&) = default;
};

/// What a control node weighed: a branch's result with its score and verdict.
struct TeacherCandidate {
  TeacherCandidateId id{};
  WorkflowRunId workflow_run_id{};
  ControlNodeRunId control_node_run_id{};
  std::string candidate_id{};
  std::optional<BranchRunId> branch_run_id{};
  std::optional<double> score{};
  std::optional<bool> passed{};
  std::string rationale_json = "{}";
  UnixSeconds created_at = 0;

  friend bool operator==(const TeacherCandidate&, const TeacherCandidate&) = default;
};

struct WorkflowOutcome {
  TraceStatus status = TraceStatus::completed;
  std::optional<std::string> metadata_json{};  ///< absent: as it was started
};

struct BranchOutcome {
  TraceStatus status = TraceStatus::completed;
  std::optional<std::string> result_json{};
};

struct LeafOutcome {
  TraceStatus status = TraceStatus::completed;
  std::optional<std::string> output_json{};
  std::optional<std::string> artifacts_json{};
};

struct ControlNodeOutcome {
  TraceStatus status = TraceStatus::completed;
  std::optional<std::string> selected_children_json{};
  std::optional<std::string> result_json{};
};

struct BranchTrace {
  BranchRun run{};
  std::vector<LeafRun> leaves{};

  friend bool operator==(const BranchTrace&, const BranchTrace&) = default;
};

struct ControlNodeTrace {
  ControlNodeRun run{};
  std::vector<TeacherCandidate> candidates{};

  friend bool operator==(const ControlNodeTrace&, const ControlNodeTrace&) = default;
};

/// A whole run. Every list is in the order of (start, id).
struct WorkflowTrace {
  WorkflowRun run{};
  std::vector<BranchTrace> branches{};
  std::vector<LeafRun> leaves{};  ///< those of no branch
  std::vector<ControlNodeTrace> control_nodes{};

  friend bool operator==(const WorkflowTrace&, const WorkflowTrace&) = default;
};

struct WorkflowFilter {
  std::optional<TraceStatus> status{};
  std::optional<std::string> workflow_id{};
  std::size_t limit = 50;              ///< 1 to 1,000
  std::optional<std::string> after{};  ///< a page's `next`
};

/// The workflow trace of a store. A light handle like `Threads`; every call is atomic.
///
/// `start` stores a record as running (its status, `completed_at` and, unless set, `started_at` are
/// the store's to choose) and `finish` ends it: `conflict` when it was finished before, `not_found`
/// when it does not exist. A parent that does not exist is `not_found`, one of another run
/// `invalid_argument`, an id that is taken `conflict`; JSON that is not valid is `invalid_argument`
/// on writing and `damaged`, naming the record, on reading.
class Workflows {
 public:
  WorkflowRun start(WorkflowRun run);
  BranchRun start(BranchRun branch);
  LeafRun start(LeafRun leaf);
  ControlNodeRun start(ControlNodeRun node);

  WorkflowRun finish(const WorkflowRunId& id, const WorkflowOutcome& outcome = {});
  BranchRun finish(const BranchRunId& id, const BranchOutcome& outcome = {});
  LeafRun finish(const LeafRunId& id, const LeafOutcome& outcome = {});
  ControlNodeRun finish(const ControlNodeRunId& id, const ControlNodeOutcome& outcome = {});

  /// Stores a candidate; `judge` gives its score and verdict later.
  TeacherCandidate add(TeacherCandidate candidate);
  TeacherCandidate judge(const TeacherCandidateId& id, std::optional<double> score,
                         std::optional<bool> passed,
                         const std::optional<std::string>& rationale_json = {});

  std::optional<WorkflowRun> find(const WorkflowRunId& id) const;
  WorkflowRun get(const WorkflowRunId& id) const;
  /// The run with all that belongs to it, read in one snapshot.
  WorkflowTrace trace(const WorkflowRunId& id) const;
  /// Most recently started first.
  Page<WorkflowRun> list(const WorkflowFilter& filter = {}) const;

  /// The completed leaf run of that run, leaf and input whose output can be used again: the one
  /// that was finished last.
  std::optional<LeafRun> replay(const WorkflowRunId& run, const std::string& leaf_id,
                                const std::string& input_hash) const;

  /// Removes the run with all that belongs to it. Says whether it was there.
  bool remove(const WorkflowRunId& id);

 private:
  friend class StateStore;
  explicit Workflows(std::shared_ptr<state::StoreContext> context);
  std::shared_ptr<state::StoreContext> context_;
};

}  // namespace threadstore
