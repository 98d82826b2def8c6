#include "state/threads/workflow_record.h"

#include "base/json.h"

namespace threadstore::state {
namespace {

TraceStatus read_status(const db::Row& row, int column) {
  return from_word<TraceStatus>(row.view(column)).value_or(TraceStatus::failed);
}

/// `what` is the column and its record: "output_json of leaf run". Column 0 is the id.
std::string read_json(const db::Row& row, int column, const std::string& what) {
  base::check_json(row.view(column), what + " " + row.text(0), ErrorCode::damaged);
  return row.text(column);
}

}  // namespace

WorkflowRun read_workflow_run(const db::Row& row) {
  return {
      .id = row.get<WorkflowRunId>(0),
      .workflow_id = row.text(1),
      .goal = row.text(2),
      .status = read_status(row, 3),
      .input_hash = row.get<std::optional<std::string>>(4),
      .started_at = row.integer(5),
      .completed_at = row.get<std::optional<UnixSeconds>>(6),
      .metadata_json = read_json(row, 7, "metadata_json of workflow run"),
  };
}

BranchRun read_branch_run(const db::Row& row) {
  return {
      .id = row.get<BranchRunId>(0),
      .workflow_run_id = row.get<WorkflowRunId>(1),
      .branch_id = row.text(2),
      .node_id = row.text(3),
      .status = read_status(row, 4),
      .started_at = row.integer(5),
      .completed_at = row.get<std::optional<UnixSeconds>>(6),
      .result_json = read_json(row, 7, "result_json of branch run"),
  };
}

LeafRun read_leaf_run(const db::Row& row) {
  return {
      .id = row.get<LeafRunId>(0),
      .workflow_run_id = row.get<WorkflowRunId>(1),
      .branch_run_id = row.get<std::optional<BranchRunId>>(2),
      .leaf_id = row.text(3),
      .task_id = row.text(4),
      .input_hash = row.get<std::optional<std::string>>(5),
      .status = read_status(row, 6),
      .output_json = read_json(row, 7, "output_json of leaf run"),
      .artifacts_json = read_json(row, 8, "artifacts_json of leaf run"),
      .started_at = row.integer(9),
      .completed_at = row.get<std::optional<UnixSeconds>>(10),
  };
}

ControlNodeRun read_control_node_run(const db::Row& row) {
  return {
      .id = row.get<ControlNodeRunId>(0),
      .workflow_run_id = row.get<WorkflowRunId>(1),
      .node_id = row.text(2),
      .kind = row.text(3),
      .status = read_status(row, 4),
      .selected_children_json = read_json(row, 5, "selected_children_json of control node run"),
      .result_json = read_json(row, 6, "result_json of control node run"),
      .started_at = row.integer(7),
      .completed_at = row.get<std::optional<UnixSeconds>>(8),
  };
}

TeacherCandidate read_teacher_candidate(const db::Row& row) {
  return {
      .id = row.get<TeacherCandidateId>(0),
      .workflow_run_id = row.get<WorkflowRunId>(1),
      .control_node_run_id = row.get<ControlNodeRunId>(2),
      .candidate_id = row.text(3),
      .branch_run_id = row.get<std::optional<BranchRunId>>(4),
      .score = row.get<std::optional<double>>(5),
      .passed = row.get<std::optional<bool>>(6),
      .rationale_json = read_json(row, 7, "rationale_json of teacher candidate"),
      .created_at = row.integer(8),
  };
}

}  // namespace threadstore::state
