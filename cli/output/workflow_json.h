#pragma once

#include "cli/output/json.h"
#include "threadstore/workflow_trace.h"

namespace threadstore::cli {

// The records of the workflow trace: every column under its own name, but the columns that hold
// JSON without their ending: "metadata", "result", "output", "artifacts", "selected_children",
// "rationale".
Json workflow_json(const WorkflowRun& run);
Json workflow_json(const BranchRun& branch);
Json workflow_json(const LeafRun& leaf);
Json workflow_json(const ControlNodeRun& node);
Json workflow_json(const TeacherCandidate& candidate);

/// The run with "branches" (each with "leaves"), "leaves" of no branch, and "control_nodes" (each
/// with "candidates").
Json workflow_json(const WorkflowTrace& trace);

}  // namespace threadstore::cli
