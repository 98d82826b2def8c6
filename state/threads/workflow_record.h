#pragma once

#include <string>

#include "state/db/row.h"
#include "threadstore/workflow_trace.h"

/// Rows of the workflow trace. Each reader checks the row's JSON and throws `damaged`, naming the
/// record, when it is not valid.
namespace threadstore::state {

inline const std::string workflow_run_columns =
    "id, workflow_id, goal, status, input_hash, started_at, completed_at, metadata_json";
inline const std::string branch_run_columns =
    "id, workflow_run_id, branch_id, node_id, status, started_at, completed_at, result_json";
inline const std::string leaf_run_columns =
    "id, workflow_run_id, branch_run_id, leaf_id, task_id, input_hash, status, output_json, "
    "artifacts_json, started_at, completed_at";
inline const std::string control_node_run_columns =
    "id, workflow_run_id, node_id, kind, status, selected_children_json, result_json, started_at, "
    "completed_at";
inline const std::string teacher_candidate_columns =
    "id, workflow_run_id, control_node_run_id, candidate_id, branch_run_id, score, passed, "
    "rationale_json, created_at";

WorkflowRun read_workflow_run(const db::Row& row);
BranchRun read_branch_run(const db::Row& row);
LeafRun read_leaf_run(const db::Row& row);
ControlNodeRun read_control_node_run(const db::Row& row);
TeacherCandidate read_teacher_candidate(const db::Row& row);

}  // namespace threadstore::state
