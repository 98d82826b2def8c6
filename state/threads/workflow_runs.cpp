#include <map>

#include "base/ids.h"
#include "state/db/session.h"
#include "state/store_context.h"
#include "state/threads/keyset_cursor.h"
#include "state/threads/workflow_record.h"
#include "state/threads/workflow_rules.h"
#include "threadstore/workflow_trace.h"

// Whole runs: their own record, the trace that belongs to them, lists and the replay look-up. The
// parts of a run are in workflow_parts.cpp.
namespace threadstore {
namespace {

const std::string kSelectRun = "SELECT " + state::workflow_run_columns + " FROM workflow_runs";

std::optional<WorkflowRun> find_run(db::Session& session, const WorkflowRunId& id) {
  return session.one(kSelectRun + " WHERE id = ?", {id}, state::read_workflow_run);
}

WorkflowRun get_run(db::Session& session, const WorkflowRunId& id) {
  state::require_run(session, id);
  return find_run(session, id).value();
}

}  // namespace

Workflows::Workflows(std::shared_ptr<state::StoreContext> context) : context_(std::move(context)) {}

WorkflowRun Workflows::start(WorkflowRun run) {
  state::require_text(run.workflow_id, "workflow_id", "workflow run");
  state::require_json(run.metadata_json, "metadata_json", "workflow run");
  if (run.id.empty()) run.id = WorkflowRunId(base::make_uuid_v7(context_->now_millis()));
  if (run.started_at == 0) run.started_at = context_->now_seconds();
  run.status = TraceStatus::running;
  run.completed_at.reset();
  context_->write([&](db::Session& session) {
    state::require_free_id(session, "workflow_runs", run.id.str());
    session.run("INSERT INTO workflow_runs (" + state::workflow_run_columns +
                    ") VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                {run.id, run.workflow_id, run.goal, run.status, run.input_hash, run.started_at,
                 run.completed_at, run.metadata_json});
  });
  return run;
}

WorkflowRun Workflows::finish(const WorkflowRunId& id, const WorkflowOutcome& outcome) {
  state::require_end(outcome.status);
  state::require_json(outcome.metadata_json, "metadata_json", "workflow run");
  return context_->write([&](db::Session& session) {
    auto finished = session.one(
        R"(UPDATE workflow_runs SET
             status = ?1,
             completed_at = CASE WHEN started_at > ?2 THEN started_at ELSE ?2 END,
             metadata_json = coalesce(?3, metadata_json)
           WHERE id = ?4 AND completed_at IS NULL RETURNING )" +
            state::workflow_run_columns,
        {outcome.status, context_->now_seconds(), outcome.metadata_json, id},
        state::read_workflow_run);
    if (!finished) state::throw_not_finished(session, "workflow_runs", id.str());
    return *std::move(finished);
  });
}

std::optional<WorkflowRun> Workflows::find(const WorkflowRunId& id) const {
  return context_->read([&](db::Session& session) { return find_run(session, id); });
}

WorkflowRun Workflows::get(const WorkflowRunId& id) const {
  return context_->read([&](db::Session& session) { return get_run(session, id); });
}

WorkflowTrace Workflows::trace(const WorkflowRunId& id) const {
  return context_->read([&](db::Session& session) {
    WorkflowTrace trace;
    trace.run = get_run(session, id);

    std::map<BranchRunId, std::size_t> branch_places;
    session.each("SELECT " + state::branch_run_columns +
                     " FROM branch_runs WHERE workflow_run_id = ? ORDER BY started_at, id",
                 {id}, [&](const db::Row& row) {
                   trace.branches.push_back({state::read_branch_run(row), {}});
                   branch_places[trace.branches.back().run.id] = trace.branches.size() - 1;
                 });
    session.each("SELECT " + state::leaf_run_columns +
                     " FROM leaf_runs WHERE workflow_run_id = ? ORDER BY started_at, id",
                 {id}, [&](const db::Row& row) {
                   LeafRun leaf = state::read_leaf_run(row);
                   const auto place = leaf.branch_run_id ? branch_places.find(*leaf.branch_run_id)
                                                         : branch_places.end();
                   auto& leaves = place == branch_places.end()
                                      ? trace.leaves
                                      : trace.branches[place->second].leaves;
                   leaves.push_back(std::move(leaf));
                 });

    std::map<ControlNodeRunId, std::size_t> node_places;
    session.each("SELECT " + state::control_node_run_columns +
                     " FROM control_node_runs WHERE workflow_run_id = ? ORDER BY started_at, id",
                 {id}, [&](const db::Row& row) {
                   trace.control_nodes.push_back({state::read_control_node_run(row), {}});
                   node_places[trace.control_nodes.back().run.id] = trace.control_nodes.size() - 1;
                 });
    session.each("SELECT " + state::teacher_candidate_columns +
                     " FROM teacher_candidates WHERE workflow_run_id = ? ORDER BY created_at, id",
                 {id}, [&](const db::Row& row) {
                   TeacherCandidate candidate = state::read_teacher_candidate(row);
                   const auto place = node_places.find(candidate.control_node_run_id);
                   // Another program may have put it under a node of another run.
                   if (place == node_places.end()) return;
                   trace.control_nodes[place->second].candidates.push_back(std::move(candidate));
                 });
    return trace;
  });
}

Page<WorkflowRun> Workflows::list(const WorkflowFilter& filter) const {
  state::check_limit(filter.limit);
  const state::KeysetCursor after = state::KeysetCursor::parse(filter.after);
  // Each filter gets its own statement, so that each uses its index.
  std::string sql = kSelectRun + " WHERE (started_at, id) < (?1, ?2)";
  if (filter.status && *filter.status == TraceStatus::failed) {
    sql += " AND (status = ?3 OR status NOT IN ('running', 'completed', 'cancelled', 'skipped'))";
  } else {
    sql += filter.status ? " AND status = ?3" : " AND ?3 IS NULL";
  }
  sql += filter.workflow_id ? " AND workflow_id = ?4" : " AND ?4 IS NULL";
  sql += " ORDER BY started_at DESC, id DESC LIMIT ?5";
  return context_->read([&](db::Session& session) {
    Page<WorkflowRun> page;
    page.items =
        session.all(sql, {after.at, after.id, filter.status, filter.workflow_id, filter.limit + 1},
                    state::read_workflow_run);
    if (page.items.size() > filter.limit) {
      page.items.pop_back();
      const WorkflowRun& last = page.items.back();
      page.next = state::KeysetCursor{last.started_at, 0, last.id.str()}.str();
    }
    return page;
  });
}

std::optional<LeafRun> Workflows::replay(const WorkflowRunId& run, const std::string& leaf_id,
                                         const std::string& input_hash) const {
  return context_->read([&](db::Session& session) {
    state::require_run(session, run);
    return session.one("SELECT " + state::leaf_run_columns +
                           R"( FROM leaf_runs
                              WHERE workflow_run_id = ? AND leaf_id = ? AND input_hash = ?
                                AND status = 'completed' AND completed_at IS NOT NULL
                              ORDER BY completed_at DESC, id DESC LIMIT 1)",
                       {run, leaf_id, input_hash}, state::read_leaf_run);
  });
}

bool Workflows::remove(const WorkflowRunId& id) {
  return context_->write([&](db::Session& session) {
    return session.run("DELETE FROM workflow_runs WHERE id = ?", {id}) > 0;
  });
}

}  // namespace threadstore
