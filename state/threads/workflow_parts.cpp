#include <cmath>

#include "base/ids.h"
#include "state/db/session.h"
#include "state/store_context.h"
#include "state/threads/workflow_record.h"
#include "state/threads/workflow_rules.h"
#include "threadstore/error.h"
#include "threadstore/workflow_trace.h"

// The parts of a workflow run: branches, leaves, control nodes and their candidates.
namespace threadstore {
namespace {

/// Fills in what the store chooses when a part is started.
template <class Part>
void begin(Part& part, const state::StoreContext& context) {
  if (part.id.empty()) part.id = decltype(part.id)(base::make_uuid_v7(context.now_millis()));
  if (part.started_at == 0) part.started_at = context.now_seconds();
  part.status = TraceStatus::running;
  part.completed_at.reset();
}

void require_score(std::optional<double> score) {
  if (!score || std::isfinite(*score)) return;
  throw Error(ErrorCode::invalid_argument, "the score of a teacher candidate must be finite");
}

}  // namespace

BranchRun Workflows::start(BranchRun branch) {
  state::require_text(branch.branch_id, "branch_id", "branch run");
  state::require_text(branch.node_id, "node_id", "branch run");
  state::require_json(branch.result_json, "result_json", "branch run");
  begin(branch, *context_);
  context_->write([&](db::Session& session) {
    state::require_run(session, branch.workflow_run_id);
    state::require_free_id(session, "branch_runs", branch.id.str());
    session.run("INSERT INTO branch_runs (" + state::branch_run_columns +
                    ") VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                {branch.id, branch.workflow_run_id, branch.branch_id, branch.node_id, branch.status,
                 branch.started_at, branch.completed_at, branch.result_json});
  });
  return branch;
}

LeafRun Workflows::start(LeafRun leaf) {
  state::require_text(leaf.leaf_id, "leaf_id", "leaf run");
  state::require_text(leaf.task_id, "task_id", "leaf run");
  state::require_json(leaf.output_json, "output_json", "leaf run");
  state::require_json(leaf.artifacts_json, "artifacts_json", "leaf run");
  begin(leaf, *context_);
  context_->write([&](db::Session& session) {
    state::require_run(session, leaf.workflow_run_id);
    if (leaf.branch_run_id) {
      state::require_branch_of(session, leaf.workflow_run_id, *leaf.branch_run_id);
    }
    state::require_free_id(session, "leaf_runs", leaf.id.str());
    session.run("INSERT INTO leaf_runs (" + state::leaf_run_columns +
                    ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                {leaf.id, leaf.workflow_run_id, leaf.branch_run_id, leaf.leaf_id, leaf.task_id,
                 leaf.input_hash, leaf.status, leaf.output_json, leaf.artifacts_json,
                 leaf.started_at, leaf.completed_at});
  });
  return leaf;
}

ControlNodeRun Workflows::start(ControlNodeRun node) {
  state::require_text(node.node_id, "node_id", "control node run");
  state::require_text(node.kind, "kind", "control node run");
  state::require_json(node.selected_children_json, "selected_children_json", "control node run");
  state::require_json(node.result_json, "result_json", "control node run");
  begin(node, *context_);
  context_->write([&](db::Session& session) {
    state::require_run(session, node.workflow_run_id);
    state::require_free_id(session, "control_node_runs", node.id.str());
    session.run(
        "INSERT INTO control_node_runs (" + state::control_node_run_columns +
            ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        {node.id, node.workflow_run_id, node.node_id, node.kind, node.status,
         node.selected_children_json, node.result_json, node.started_at, node.completed_at});
  });
  return node;
}

BranchRun Workflows::finish(const BranchRunId& id, const BranchOutcome& outcome) {
  state::require_end(outcome.status);
  state::require_json(outcome.result_json, "result_json", "branch run");
  return context_->write([&](db::Session& session) {
    auto finished = session.one(
        R"(UPDATE branch_runs SET
             status = ?1,
             completed_at = CASE WHEN started_at > ?2 THEN started_at ELSE ?2 END,
             result_json = coalesce(?3, result_json)
           WHERE id = ?4 AND completed_at IS NULL RETURNING )" +
            state::branch_run_columns,
        {outcome.status, context_->now_seconds(), outcome.result_json, id}, state::read_branch_run);
    if (!finished) state::throw_not_finished(session, "branch_runs", id.str());
    return *std::move(finished);
  });
}

LeafRun Workflows::finish(const LeafRunId& id, const LeafOutcome& outcome) {
  state::require_end(outcome.status);
  state::require_json(outcome.output_json, "output_json", "leaf run");
  state::require_json(outcome.artifacts_json, "artifacts_json", "leaf run");
  return context_->write([&](db::Session& session) {
    auto finished = session.one(
        R"(UPDATE leaf_runs SET
             status = ?1,
             completed_at = CASE WHEN started_at > ?2 THEN started_at ELSE ?2 END,
             output_json = coalesce(?3, output_json),
             artifacts_json = coalesce(?4, artifacts_json)
           WHERE id = ?5 AND completed_at IS NULL RETURNING )" +
            state::leaf_run_columns,
        {outcome.status, context_->now_seconds(), outcome.output_json, outcome.artifacts_json, id},
        state::read_leaf_run);
    if (!finished) state::throw_not_finished(session, "leaf_runs", id.str());
    return *std::move(finished);
  });
}

ControlNodeRun Workflows::finish(const ControlNodeRunId& id, const ControlNodeOutcome& outcome) {
  state::require_end(outcome.status);
  state::require_json(outcome.selected_children_json, "selected_children_json", "control node run");
  state::require_json(outcome.result_json, "result_json", "control node run");
  return context_->write([&](db::Session& session) {
    auto finished = session.one(
        R"(UPDATE control_node_runs SET
             status = ?1,
             completed_at = CASE WHEN started_at > ?2 THEN started_at ELSE ?2 END,
             selected_children_json = coalesce(?3, selected_children_json),
             result_json = coalesce(?4, result_json)
           WHERE id = ?5 AND completed_at IS NULL RETURNING )" +
            state::control_node_run_columns,
        {outcome.status, context_->now_seconds(), outcome.selected_children_json,
         outcome.result_json, id},
        state::read_control_node_run);
    if (!finished) state::throw_not_finished(session, "control_node_runs", id.str());
    return *std::move(finished);
  });
}

TeacherCandidate Workflows::add(TeacherCandidate candidate) {
  state::require_text(candidate.candidate_id, "candidate_id", "teacher candidate");
  state::require_json(candidate.rationale_json, "rationale_json", "teacher candidate");
  require_score(candidate.score);
  if (candidate.id.empty()) {
    candidate.id = TeacherCandidateId(base::make_uuid_v7(context_->now_millis()));
  }
  if (candidate.created_at == 0) candidate.created_at = context_->now_seconds();
  context_->write([&](db::Session& session) {
    const WorkflowRunId& run = candidate.workflow_run_id;
    state::require_run(session, run);
    state::require_control_node_of(session, run, candidate.control_node_run_id);
    if (candidate.branch_run_id) {
      state::require_branch_of(session, run, *candidate.branch_run_id);
    }
    state::require_free_id(session, "teacher_candidates", candidate.id.str());
    session.run("INSERT INTO teacher_candidates (" + state::teacher_candidate_columns +
                    ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                {candidate.id, run, candidate.control_node_run_id, candidate.candidate_id,
                 candidate.branch_run_id, candidate.score, candidate.passed,
                 candidate.rationale_json, candidate.created_at});
  });
  return candidate;
}

TeacherCandidate Workflows::judge(const TeacherCandidateId& id, std::optional<double> score,
                                  std::optional<bool> passed,
                                  const std::optional<std::string>& rationale_json) {
  state::require_json(rationale_json, "rationale_json", "teacher candidate");
  require_score(score);
  return context_->write([&](db::Session& session) {
    auto judged = session.one(
        R"(UPDATE teacher_candidates SET
             score = ?1, passed = ?2, rationale_json = coalesce(?3, rationale_json)
           WHERE id = ?4 RETURNING )" +
            state::teacher_candidate_columns,
        {score, passed, rationale_json, id}, state::read_teacher_candidate);
    if (!judged) throw Error(ErrorCode::not_found, "there is no teacher candidate " + id.str());
    return *std::move(judged);
  });
}

}  // namespace threadstore
