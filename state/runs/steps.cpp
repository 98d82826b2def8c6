#include <nlohmann/json.hpp>

#include "state/runs/disposition.h"
#include "state/runs/indeterminate.h"
#include "state/runs/reopen.h"
#include "state/runs/run_json.h"
#include "state/runs/run_stop.h"
#include "state/runs/step_record.h"
#include "state/runs/suspension.h"
#include "state/threads/keyset_cursor.h"
#include "threadstore/error.h"
#include "threadstore/run_steps.h"

namespace threadstore {
namespace {

using state::RunHead;

/// The event says what counts: a harness that lost the answer to its commit finds out here.
void refuse_committed(db::Session& session, const RunId& run, std::int64_t step) {
  const auto committed = session.value<std::int64_t>(
      R"(SELECT committed_sequence FROM run_steps
         WHERE run_id = ? AND step = ? AND committed_sequence IS NOT NULL)",
      {run, step});
  if (!committed) return;
  throw Error(ErrorCode::conflict,
              "cannot store step " + std::to_string(step) + " of run " + run.str() +
                  ": it was committed as event " + std::to_string(*committed) + " already",
              {{"run_id", run.str()}, {"step", step}, {"committed_sequence", *committed}});
}

RunStep store_step(const state::RunScope& scope, const RunId& run, const NewStep& step,
                   bool committed) {
  state::check_step(step, scope.most());
  const std::size_t bytes =
      step.decision.size() + step.result.size() + step.prompt.size() + step.tool_call.size();
  return scope.write_shared(bytes, [&](db::Session& session) {
    const RunHead head = state::require_active(session, scope, run, "store a step of");
    refuse_committed(session, run, step.step);
    return state::insert_step(session, head, step, committed, scope.now());
  });
}

std::int64_t sum_of(const state::RunScope& scope, const RunId& run, const char* sql) {
  return scope.read([&](db::Session& session) {
    state::require_run(session, scope, run);
    return session.value<std::int64_t>(sql, {run}).value_or(0);
  });
}

// How a run resumes.

const std::string kDoing = "resume";

bool is_final(db::Session& session, const RunHead& run) {
  if (run.outcome == RunOutcome::completed) return true;
  if (run.reason_code == RunReason::permission_denied) return true;
  return run.outcome == RunOutcome::limit_exceeded &&
         session.value<std::string>("SELECT outcome_text FROM runs WHERE id = ?", {run.id}) ==
             "budget_ceiling_reached";
}

/// The run's own budget that a limit is about, when it has one: a harness may keep its own.
std::optional<std::int64_t> budget_of(const RunBudgets& budgets, RunReason limit) {
  if (limit == RunReason::model_turns) return budgets.max_turns;
  if (limit == RunReason::duration) return budgets.timeout_seconds;
  if (limit == RunReason::tool_calls) return budgets.max_tool_calls;
  if (limit == RunReason::context_bytes) return budgets.max_context_bytes;
  if (limit == RunReason::total_tokens || limit == RunReason::token_usage_unavailable) {
    return budgets.max_total_tokens;
  }
  return std::nullopt;
}

/// Runs that a call delegated, or that delegated by one, cannot be resumed by themselves: what the
/// call's result was told is told. A spawn is adopted again instead.
void refuse_delegated(db::Session& session, const RunHead& run) {
  if (run.lineage.parent_call_id) {
    state::throw_run_conflict(kDoing, run.id, "a call of another run delegated it");
  }
  if (session.exists("SELECT 1 FROM runs WHERE parent_run_id = ? AND parent_call_id IS NOT NULL",
                     {run.id})) {
    state::throw_run_conflict(kDoing, run.id, "calls of it delegated to other runs");
  }
}

void resume_stopped(db::Session& session, const RunHead& run, UnixMillis now) {
  if (run.outcome == RunOutcome::limit_exceeded && !run.budget_raised &&
      budget_of(run.budgets, run.reason_code.value_or(RunReason::total_tokens))) {
    state::throw_run_conflict(kDoing, run.id, "it stopped for a limit; raise its budget first");
  }
  refuse_delegated(session, run);
  state::refuse_unsafe_call(session, run.id, kDoing);
  state::reactivate(session, run.id, now);
}

void resume_paused(db::Session& session, const RunHead& run, const std::string& detail,
                   UnixMillis now) {
  if (!state::indeterminate_calls(session, run.id).empty()) {
    state::throw_run_conflict(kDoing, run.id,
                              "calls with an unknown effect need their answers first");
  }
  state::resume_suspended(session, run, state::open_suspension(session, run.id),
                          detail.empty() ? "resumed" : detail, std::nullopt, now);
}

}  // namespace

RunStep RunSteps::record(const RunId& run, const NewStep& step) {
  return store_step(*scope_, run, step, /*committed=*/false);
}

RunStep RunSteps::commit(const RunId& run, const NewStep& step) {
  return store_step(*scope_, run, step, /*committed=*/true);
}

Page<RunStep> RunSteps::list(const RunId& run, const StepFilter& filter) const {
  state::check_limit(filter.limit);
  state::KeysetCursor after{.at = -1, .order = 0, .id = ""};
  if (filter.after) after = state::KeysetCursor::parse(filter.after);
  std::string sql = state::select_steps + " AND (s.step, s.attempt) > (?2, ?3) AND s.step >= ?4";
  if (filter.committed_only) sql += " AND s.committed_sequence IS NOT NULL";
  sql += " ORDER BY s.step, s.attempt LIMIT ?5";
  return scope_->read([&](db::Session& session) {
    state::require_run(session, *scope_, run);
    Page<RunStep> page{
        .items = session.all(sql, {run, after.at, after.order, filter.from_step, filter.limit + 1},
                             state::read_step),
        .next = {}};
    if (page.items.size() > filter.limit) {
      page.items.pop_back();
      const RunStep& last = page.items.back();
      page.next = state::KeysetCursor{.at = last.step, .order = last.attempt, .id = ""}.str();
    }
    return page;
  });
}

std::int64_t RunSteps::last(const RunId& run) const {
  return scope_->read([&](db::Session& session) {
    state::require_run(session, *scope_, run);
    return state::last_step(session, run);
  });
}

std::int64_t RunSteps::last_committed(const RunId& run) const {
  return scope_->read([&](db::Session& session) {
    state::require_run(session, *scope_, run);
    return state::last_committed_step(session, run);
  });
}

std::int64_t RunSteps::spent_tokens(const RunId& run) const {
  return sum_of(*scope_, run, state::own_tokens_sql);
}

std::int64_t RunSteps::spent_tokens_tree(const RunId& run) const {
  return sum_of(*scope_, run, state::tree_tokens_sql);
}

ResumePoint RunSteps::resume(const RunId& run, const std::string& detail) {
  state::check_text_size(detail, "the detail", max_run_prompt);
  return scope_->write([&](db::Session& session) {
    const RunHead head = state::require_run(session, *scope_, run);
    ResumePoint point = state::resume_point(session, run);
    if (is_final(session, head)) return point;
    const UnixMillis now = scope_->now();
    if (head.lifecycle == RunLifecycle::active) {
      state::refuse_held(session, *scope_, run, kDoing);
    } else if (head.lifecycle == RunLifecycle::suspended) {
      resume_paused(session, head, detail, now);
    } else {
      resume_stopped(session, head, now);
    }
    const RunStatus before = run_status(Run{.lifecycle = head.lifecycle, .outcome = head.outcome});
    state::append_resumed(session, head, to_word(before), point, detail, now);
    point.resumed = true;
    return point;
  });
}

}  // namespace threadstore
