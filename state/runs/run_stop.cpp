#include "state/runs/run_stop.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "state/runs/call_record.h"
#include "state/runs/event_log.h"
#include "state/runs/indeterminate.h"
#include "state/runs/request_record.h"
#include "state/threads/goal_record.h"
#include "threadstore/error.h"
#include "threadstore/runs.h"

namespace threadstore {

namespace state {
namespace {

constexpr const char* kInterrupted = "run interrupted";

/// How an open call of a stopping run ends: one that never started is safe whatever happens to the
/// run, one that ran shares the run's fate.
CallOutcomeClass class_of_open_call(const RunCall& call, const RunStop& stop) {
  if (call.status == CallStatus::requested) return CallOutcomeClass::interrupted;
  if (call.status == CallStatus::indeterminate) return CallOutcomeClass::uncertain_side_effect;
  return stop.outcome() == RunOutcome::cancelled ? CallOutcomeClass::cancelled
                                                 : CallOutcomeClass::terminal_error;
}

std::vector<RunCall> open_calls(db::Session& session, const RunId& run) {
  return session.all(select_calls + R"( AND c.status IN ('requested', 'started', 'indeterminate')
                                        ORDER BY c.requested_sequence)",
                     {run}, read_call);
}

void close_call(db::Session& session, const RunCall& call, const RunStop& stop, UnixMillis now) {
  close_approval(session, call.run_id, call.call_id, kInterrupted, now);
  store_outcome(session, call, "tool.failed", CallStatus::failed,
                {.outcome_class = class_of_open_call(call, stop), .message = kInterrupted},
                std::nullopt, now);
}

/// A run that waits for an approval keeps the calls that wait with it; a run whose effects are
/// unknown keeps them too, and what started becomes indeterminate.
void settle_calls(db::Session& session, const RunHead& run, const RunStop& stop, UnixMillis now) {
  if (stop.reason == RunReason::effect_unknown) {
    if (mark_indeterminate(session, run.id, now).empty()) {
      throw_run_conflict("suspend", run.id, "no call of it has started");
    }
    return;
  }
  for (const RunCall& call : open_calls(session, run.id)) {
    if (stop.outcome() == RunOutcome::completed) {
      throw_run_conflict("complete", run.id,
                         "call " + call.call_id.str() + " is " + std::string(to_word(call.status)) +
                             "; finish it first");
    }
    if (stop.reason != RunReason::approval_required) {
      close_call(session, call, stop, now);
    } else if (call.status != CallStatus::requested) {
      throw_run_conflict("let wait for an approval", run.id,
                         "call " + call.call_id.str() + " is still running; finish it first");
    }
  }
}

/// The time of this stretch of work is charged to the goal, once per tree.
void charge_time(db::Session& session, const RunHead& run, UnixMillis now) {
  if (!run.thread_id || run.lineage.parent_run_id) return;
  const auto goal = find_goal(session, *run.thread_id);
  if (!goal || (goal->status != GoalStatus::active && goal->status != GoalStatus::budget_limited)) {
    return;
  }
  const std::int64_t seconds = std::max<std::int64_t>(0, now - run.active_since) / 1000;
  accrue_on_goal(session, *run.thread_id, {.seconds = seconds, .when = now / 1000});
}

/// The active runs below, the deepest first. UNION ends in a damaged file's cycle.
std::vector<RunHead> active_below(db::Session& session, const RunId& run) {
  return session.all(std::string("WITH RECURSIVE below(run) AS ("
                                 "  SELECT id FROM runs WHERE parent_run_id = ?1"
                                 "  UNION SELECT child.id FROM runs AS child JOIN below"
                                 "    ON child.parent_run_id = below.run) "
                                 "SELECT ") +
                         head_columns +
                         " FROM runs AS r JOIN below ON below.run = r.id"
                         " WHERE r.lifecycle = 'active' AND r.id <> ?1"
                         " ORDER BY r.depth DESC, r.created_at, r.id",
                     {run}, read_head);
}

constexpr std::pair<RunReason, const char*> kLimitPhrases[]{
    {RunReason::model_turns, "the limit of model turns was reached"},
    {RunReason::duration, "the time limit was reached"},
    {RunReason::total_tokens, "the token budget was used up"},
    {RunReason::token_usage_unavailable,
     "the model did not report its token usage, which the token budget needs"},
    {RunReason::tool_calls, "the limit of tool calls was reached"},
    {RunReason::tool_calls_per_turn, "one response asked for too many tool calls"},
    {RunReason::checkpoint_size, "the checkpoint is too large"},
    {RunReason::output_size, "the output is too large"},
    {RunReason::context_bytes, "the context is too large"},
};

std::string limit_phrase(RunReason reason) {
  const auto* found = std::find_if(std::begin(kLimitPhrases), std::end(kLimitPhrases),
                                   [&](const auto& entry) { return entry.first == reason; });
  return found->second;
}

void refuse_reserved(RunReason reason) {
  if (reason != RunReason::ancestor_cancelled && reason != RunReason::abandoned &&
      reason != RunReason::legacy_completed && reason != RunReason::legacy_cancelled) {
    return;
  }
  throw Error(ErrorCode::invalid_argument,
              "the reason " + std::string(to_word(reason)) + " is only given by the store itself");
}

}  // namespace

RunStop checked_stop(const RunEnd& end, std::size_t most) {
  refuse_reserved(end.reason);
  if (end.outcome_text) check_words(*end.outcome_text, "the outcome's word", 1024);
  RunStop stop{.reason = end.reason, .outcome_text = end.outcome_text};
  switch (stop.outcome()) {
    case RunOutcome::completed:
      check_text_size(end.output.value_or(""), "the output", most);
      stop.output = end.output.value_or("");
      break;
    case RunOutcome::failed:
      check_text_size(end.text, "the error", most);
      stop.error = end.text;
      if (end.detail) {
        check_object(*end.detail, "the failure's detail", max_run_prompt);
        stop.detail = *end.detail;
      }
      break;
    case RunOutcome::limit_exceeded:
      stop.error = limit_phrase(end.reason);
      break;
    case RunOutcome::cancelled:
      break;
    case RunOutcome::blocked:
      check_words(end.text, "the message", max_run_prompt);
      stop.detail = Payload{{"message", end.text}}.dump();
      break;
    case RunOutcome::needs_user_input:
      check_words(end.text, "the question", max_run_prompt);
      stop.detail = Payload{{"question", end.text}}.dump();
      break;
  }
  if (lifecycle_after(stop.outcome()) == RunLifecycle::suspended) {
    stop.prompt = end.text;
    stop.assistant_message = end.assistant_message;
    if (end.assistant_message) {
      check_content(*end.assistant_message, "the assistant's message", most);
    }
  }
  return stop;
}

void stop_alone(db::Session& session, const RunScope& scope, const RunHead& run,
                const RunStop& stop, UnixMillis now) {
  settle_calls(session, run, stop, now);
  const RunLifecycle lifecycle = lifecycle_after(stop.outcome());
  if (lifecycle == RunLifecycle::terminal) close_requests(session, run.id, kInterrupted, now);
  session.run(
      R"(UPDATE runs SET
                   lifecycle = ?, outcome = ?, reason_code = ?, reason_detail = ?,
                   outcome_text = ?, output = ?, error = ?, completed_at = ?, budget_raised = 0
                 WHERE id = ?)",
      {lifecycle, stop.outcome(), stop.reason, stop.detail, stop.outcome_text, stop.output,
       stop.error, now, run.id});
  // The output is stored once, in the row: the event says how long it is.
  Payload payload{{"lifecycle", to_word(lifecycle)},
                  {"outcome", to_word(stop.outcome())},
                  {"reason_code", to_word(stop.reason)},
                  {"reason_detail", Payload::parse(stop.detail)},
                  {"usage", usage_json(run.usage)},
                  {"budgets", budgets_json(run.budgets)},
                  {"output_bytes", stop.output ? Payload(stop.output->size()) : Payload(nullptr)},
                  {"error", or_null(stop.error)}};
  if (stop.outcome_text) payload["outcome_text"] = *stop.outcome_text;
  const std::int64_t sequence =
      append_event(session, run.id, "run." + std::string(to_word(stop.outcome())), payload, now);
  if (lifecycle == RunLifecycle::suspended) {
    session.run(
        R"(INSERT INTO run_suspensions(run_id, suspension_sequence, outcome, reason_code,
                                               prompt, assistant_message, suspended_at)
                   VALUES (?, ?, ?, ?, ?, ?, ?))",
        {run.id, sequence, stop.outcome(), stop.reason, stop.prompt, stop.assistant_message, now});
  }
  charge_time(session, run, now);
  if (lifecycle == RunLifecycle::terminal) report_to_parent(session, scope, run.id, now);
}

void stop_tree(db::Session& session, const RunScope& scope, const RunHead& run, const RunStop& stop,
               bool refuse_with_active_children, UnixMillis now) {
  const auto below = active_below(session, run.id);
  if (!below.empty() && (refuse_with_active_children || stop.outcome() == RunOutcome::completed)) {
    throw_run_conflict("stop", run.id,
                       "run " + below.front().id.str() + " below it is active; finish it first");
  }
  const bool cancelled = stop.outcome() == RunOutcome::cancelled;
  RunStop fate{.reason = cancelled ? RunReason::ancestor_cancelled : RunReason::tool_error};
  if (!cancelled) fate.error = "ancestor run interrupted";
  for (const RunHead& child : below) stop_alone(session, scope, child, fate, now);
  stop_alone(session, scope, run, stop, now);
}

void reactivate(db::Session& session, const RunId& run, UnixMillis now) {
  session.run(R"(UPDATE runs SET
                   lifecycle = 'active', outcome = NULL, reason_code = NULL, reason_detail = NULL,
                   outcome_text = NULL, output = NULL, error = NULL, completed_at = NULL, active_since = ?,
                   budget_raised = 0
                 WHERE id = ?)",
              {now, run});
}

void report_to_parent(db::Session& session, const RunScope& scope, const RunId& run,
                      UnixMillis now) {
  const RunHead head = require_run(session, scope, run);
  if (!head.lineage.parent_run_id) return;
  const auto parent = find_head(session, scope, *head.lineage.parent_run_id);
  if (!parent || parent->lifecycle != RunLifecycle::active) return;
  append_event(session, parent->id, "delegation.finished",
               {{"call_id", or_null(head.lineage.parent_call_id
                                        ? std::optional(head.lineage.parent_call_id->str())
                                        : std::nullopt)},
                {"child_run_id", run.str()},
                {"outcome", word_or_null(head.outcome)},
                {"usage", usage_json(head.usage)}},
               now);
}

}  // namespace state

Run Runs::finish(const RunId& run, const RunEnd& end) {
  const state::RunStop stop = state::checked_stop(end, scope_->most());
  return scope_->write([&](db::Session& session) {
    const auto head = state::require_active(session, *scope_, run, "finish");
    state::stop_tree(session, *scope_, head, stop, end.refuse_with_active_children, scope_->now());
    return state::get_run(session, *scope_, run);
  });
}

}  // namespace threadstore
