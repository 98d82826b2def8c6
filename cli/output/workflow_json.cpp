#include "cli/output/workflow_json.h"

namespace threadstore::cli {
namespace {

template <class Record>
Json list_json(const std::vector<Record>& records) {
  Json list = Json::array();
  for (const Record& record : records) list.push_back(workflow_json(record));
  return list;
}

}  // namespace

Json workflow_json(const WorkflowRun& run) {
  return {{"id", run.id.str()},
          {"workflow_id", run.workflow_id},
          {"goal", run.goal},
          {"status", to_word(run.status)},
          {"input_hash", or_null(run.input_hash)},
          {"started_at", run.started_at},
          {"completed_at", or_null(run.completed_at)},
          {"metadata", embedded(run.metadata_json)}};
}

Json workflow_json(const BranchRun& branch) {
  return {{"id", branch.id.str()},
          {"workflow_run_id", branch.workflow_run_id.str()},
          {"branch_id", branch.branch_id},
          {"node_id", branch.node_id},
          {"status", to_word(branch.status)},
          {"started_at", branch.started_at},
          {"completed_at", or_null(branch.completed_at)},
          {"result", embedded(branch.result_json)}};
}

Json workflow_json(const LeafRun& leaf) {
  return {{"id", leaf.id.str()},
          {"workflow_run_id", leaf.workflow_run_id.str()},
          {"branch_run_id", or_null(leaf.branch_run_id)},
          {"leaf_id", leaf.leaf_id},
          {"task_id", leaf.task_id},
          {"input_hash", or_null(leaf.input_hash)},
          {"status", to_word(leaf.status)},
          {"output", embedded(leaf.output_json)},
          {"artifacts", embedded(leaf.artifacts_json)},
          {"started_at", leaf.started_at},
          {"completed_at", or_null(leaf.completed_at)}};
}

Json workflow_json(const ControlNodeRun& node) {
  return {{"id", node.id.str()},
          {"workflow_run_id", node.workflow_run_id.str()},
          {"node_id", node.node_id},
          {"kind", node.kind},
          {"status", to_word(node.status)},
          {"selected_children", embedded(node.selected_children_json)},
          {"result", embedded(node.result_json)},
          {"started_at", node.started_at},
          {"completed_at", or_null(node.completed_at)}};
}

Json workflow_json(const TeacherCandidate& candidate) {
  return {{"id", candidate.id.str()},
          {"workflow_run_id", candidate.workflow_run_id.str()},
          {"control_node_run_id", candidate.control_node_run_id.str()},
          {"candidate_id", candidate.candidate_id},
          {"branch_run_id", or_null(candidate.branch_run_id)},
          {"score", or_null(candidate.score)},
          {"passed", or_null(candidate.passed)},
          {"rationale", embedded(candidate.rationale_json)},
          {"created_at", candidate.created_at}};
}

Json workflow_json(const WorkflowTrace& trace) {
  Json document = workflow_json(trace.run);
  document["branches"] = Json::array();
  for (const BranchTrace& branch : trace.branches) {
    Json entry = workflow_json(branch.run);
    entry["leaves"] = list_json(branch.leaves);
    document["branches"].push_back(std::move(entry));
  }
  document["leaves"] = list_json(trace.leaves);
  document["control_nodes"] = Json::array();
  for (const ControlNodeTrace& node : trace.control_nodes) {
    Json entry = workflow_json(node.run);
    entry["candidates"] = list_json(node.candidates);
    document["control_nodes"].push_back(std::move(entry));
  }
  return document;
}

}  // namespace threadstore::cli
