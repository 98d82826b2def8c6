#include <nlohmann/json.hpp>

#include "state/runs/run_usage.h"
#include "state/runs/verify.h"
#include "state/runs/working_state.h"
#include "threadstore/error.h"

// Makes the tables of a run again from its log. Contents that are in a row stay; a row that is gone
// comes back without them.
namespace threadstore {
namespace {

using state::Comparison;
using state::Replay;
using state::RunHead;

void restore_row(db::Session& session, const RunHead& run, const Comparison& found) {
  session.run(
      R"(UPDATE runs SET lifecycle = ?, outcome = ?, reason_code = ?, outcome_text = ?,
                                 provider = ?, last_sequence = ?, artifact_count = ?,
                                 step_tokens = ?, tree_step_tokens = max(tree_step_tokens, ?)
                 WHERE id = ?)",
      {found.log.lifecycle, found.log.outcome, found.log.reason_code, found.log.outcome_text,
       found.log.provider, found.log.last_sequence, found.log.artifacts.size(),
       found.log.step_tokens(), found.tree_step_tokens, run.id});
  state::store_own_usage(session, run.id, found.log.own_usage, found.charges);
}

void restore_calls(db::Session& session, const RunId& run, const Replay& log) {
  std::vector<std::string> extra =
      session.all("SELECT call_id FROM run_calls WHERE run_id = ?", {run},
                  [](const db::Row& row) { return row.text(0); });
  std::erase_if(extra, [&](const std::string& id) { return log.calls.count(id) != 0; });
  for (const std::string& id : extra) {
    session.run("DELETE FROM run_calls WHERE run_id = ? AND call_id = ?", {run, id});
  }
  for (const auto& [id, call] : log.calls) {
    session.run(
        R"(INSERT INTO run_calls(run_id, call_id, requested_sequence, tool_name, arguments, status,
                                 outcome_class, error, error_code, repetition_key,
                                 consecutive_count, started_at, completed_at, finished_sequence)
           VALUES (?, ?, ?, ?, '{}', ?, ?, ?, ?, ?, ?, ?, ?, ?)
           ON CONFLICT (run_id, call_id) DO UPDATE SET
             requested_sequence = excluded.requested_sequence, tool_name = excluded.tool_name,
             status = excluded.status, outcome_class = excluded.outcome_class,
             error = excluded.error, error_code = excluded.error_code,
             repetition_key = excluded.repetition_key,
             consecutive_count = excluded.consecutive_count, started_at = excluded.started_at,
             completed_at = excluded.completed_at,
             finished_sequence = excluded.finished_sequence)",
        {run, id, call.requested_sequence, call.tool_name, call.status, call.outcome_class,
         call.error, call.error_code, call.repetition_key, call.consecutive_count, call.started_at,
         call.completed_at, call.finished_sequence});
  }
}

void restore_approvals(db::Session& session, const RunId& run, const Replay& log) {
  session.run("DELETE FROM run_approvals WHERE run_id = ? AND call_id IS NOT NULL", {run});
  for (const auto& [id, approval] : log.approvals) {
    session.run(R"(INSERT INTO run_approvals(run_id, call_id, capabilities, requested_sequence,
                                             requested_at, decision, decided_sequence, decided_at,
                                             decided_by, reason)
                   VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?))",
                {run, id, approval.capabilities, approval.requested_sequence, approval.requested_at,
                 approval.decision, approval.decided_sequence, approval.decided_at,
                 approval.decided_by, approval.reason});
  }
}

/// A request's number is known outside: it stays.
void restore_requests(db::Session& session, const RunId& run, const Replay& log) {
  std::vector<std::int64_t> extra =
      session.all("SELECT request_id FROM run_approvals WHERE run_id = ? AND call_id IS NULL",
                  {run}, [](const db::Row& row) { return row.integer(0); });
  std::erase_if(extra, [&](std::int64_t id) { return log.requests.count(id) != 0; });
  for (const std::int64_t id : extra) {
    session.run("DELETE FROM run_approvals WHERE request_id = ?", {id});
  }
  for (const auto& [id, request] : log.requests) {
    const Replay::Approval& approval = request.approval;
    session.run(
        R"(INSERT INTO run_approvals(request_id, run_id, step, act, target, requested_sequence,
                                     requested_at, decision, decided_sequence, decided_at,
                                     decided_by, reason)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
           ON CONFLICT (request_id) DO UPDATE SET
             step = excluded.step, act = excluded.act, target = excluded.target,
             requested_sequence = excluded.requested_sequence,
             requested_at = excluded.requested_at, decision = excluded.decision,
             decided_sequence = excluded.decided_sequence, decided_at = excluded.decided_at,
             decided_by = excluded.decided_by, reason = excluded.reason)",
        {id, run, request.step, request.act, request.target, approval.requested_sequence,
         approval.requested_at, approval.decision, approval.decided_sequence, approval.decided_at,
         approval.decided_by, approval.reason});
  }
}

void restore_artifacts(db::Session& session, const RunId& run, const Replay& log) {
  session.run("DELETE FROM run_artifacts WHERE run_id = ?", {run});
  for (const auto& [path, artifact] : log.artifacts) {
    session.run(R"(INSERT INTO run_artifacts(run_id, relative_path, sequence, sha256, size)
                   VALUES (?, ?, ?, ?, ?))",
                {run, path, artifact.sequence, artifact.sha256, artifact.size});
  }
}

void restore_steps(db::Session& session, const RunId& run, const Replay& log) {
  std::vector<Replay::Place> extra = session.all(
      "SELECT step, attempt FROM run_steps WHERE run_id = ?", {run}, [](const db::Row& row) {
        return Replay::Place{row.integer(0), row.integer(1)};
      });
  std::erase_if(extra, [&](const Replay::Place& place) { return log.steps.count(place) != 0; });
  for (const auto& [step, attempt] : extra) {
    session.run("DELETE FROM run_steps WHERE run_id = ? AND step = ? AND attempt = ?",
                {run, step, attempt});
  }
  session.run("UPDATE run_steps SET committed_sequence = NULL WHERE run_id = ?", {run});
  for (const auto& [place, step] : log.steps) {
    session.run(
        R"(INSERT INTO run_steps(run_id, step, attempt, decision, result, tokens,
                                         created_at, committed_sequence)
                   VALUES (?, ?, ?, '', '', ?, ?, ?)
                   ON CONFLICT (run_id, step, attempt) DO UPDATE SET
                     tokens = excluded.tokens, created_at = excluded.created_at,
                     committed_sequence = excluded.committed_sequence)",
        {run, place.first, place.second, step.tokens, step.created_at, step.committed_sequence});
  }
}

void restore_spawns(db::Session& session, const RunId& run, const Replay& log, UnixMillis now) {
  std::vector<Replay::Place> extra =
      session.all("SELECT step, ordinal FROM run_spawns WHERE parent_run_id = ?", {run},
                  [](const db::Row& row) {
                    return Replay::Place{row.integer(0), row.integer(1)};
                  });
  std::erase_if(extra, [&](const Replay::Place& place) { return log.spawns.count(place) != 0; });
  for (const auto& [step, ordinal] : extra) {
    session.run("DELETE FROM run_spawns WHERE parent_run_id = ? AND step = ? AND ordinal = ?",
                {run, step, ordinal});
  }
  for (const auto& [place, spawn] : log.spawns) {
    session.run(R"(INSERT INTO run_spawns(parent_run_id, step, ordinal, child_run_id, goal,
                                          verify_file, needle, created_at)
                   VALUES (?, ?, ?, ?, ?, '', '', ?)
                   ON CONFLICT (parent_run_id, step, ordinal) DO UPDATE SET
                     child_run_id = excluded.child_run_id, goal = excluded.goal)",
                {run, place.first, place.second, spawn.child, spawn.goal, now});
  }
}

/// Writes what the log says; false, with nothing written, when the run changed since it was read.
bool restore(const state::RunScope& scope, const Comparison& found) {
  const RunId& run = found.run.id;
  return scope.write([&](db::Session& session) {
    const RunHead head = state::require_run(session, scope, run);
    if (!state::is_unchanged(found.run, head)) return false;
    restore_row(session, head, found);
    restore_calls(session, run, found.log);
    restore_approvals(session, run, found.log);
    restore_requests(session, run, found.log);
    restore_artifacts(session, run, found.log);
    restore_steps(session, run, found.log);
    restore_spawns(session, run, found.log, scope.now());
    state::rebuild_working_state(session, state::require_run(session, scope, run), scope.now());
    return true;
  });
}

}  // namespace

RunDifferences RunProjections::rebuild(const RunId& run) {
  // The log is read in short snapshots, however long it is: the write lock is only taken for what
  // is written.
  for (int tries = 0; tries < state::most_comparisons; ++tries) {
    const Comparison found = state::compare_run(*scope_, run);
    if (found.differences.ok()) return found.differences;
    if (found.log.gap) {
      throw Error(ErrorCode::damaged,
                  "cannot rebuild run " + run.str() + ": event " + std::to_string(*found.log.gap) +
                      " is missing from its log, which the rest is made from",
                  {{"run_id", run.str()}, {"missing", *found.log.gap}});
    }
    if (restore(*scope_, found)) return found.differences;
  }
  state::throw_always_changing(run);
}

}  // namespace threadstore
