#include <nlohmann/json.hpp>

#include "state/runs/budget_chain.h"
#include "state/runs/call_outcome.h"
#include "state/runs/call_record.h"
#include "state/runs/event_log.h"
#include "state/runs/run_usage.h"
#include "threadstore/error.h"
#include "threadstore/run_calls.h"

namespace threadstore {
namespace {

/// How often in a row, in the order in which calls ended, a recoverable error had this key. Calls
/// that run beside each other so count as well as calls that follow each other.
std::int64_t repetition_count(db::Session& session, const RunId& run, const std::string& key) {
  const auto before = session.one(state::select_calls + R"( AND c.finished_sequence IS NOT NULL
                                ORDER BY c.finished_sequence DESC LIMIT 1)",
                                  {run}, state::read_call);
  const bool same = before && before->outcome_class == CallOutcomeClass::recoverable_error &&
                    before->repetition_key == key;
  return same ? state::checked_sum(before->consecutive_count.value_or(0), 1, "consecutive_count",
                                   run)
              : 1;
}

void refuse_unapproved(db::Session& session, const RunCall& call) {
  const auto approval = state::find_approval(session, call.run_id, call.call_id);
  if (!approval || approval->decision == ApprovalDecision::granted) return;
  state::throw_call_conflict(
      call, "start",
      approval->decision ? "its approval was denied" : "its approval is not decided yet");
}

std::string interrupted_text(const RunCall& call) {
  switch (call.status) {
    case CallStatus::requested:
      return "interrupted: the call was not started";
    case CallStatus::started:
      return "interrupted: the call has no result yet";
    case CallStatus::indeterminate:
      return "interrupted: it is not known whether the call had its effect";
    case CallStatus::completed:
    case CallStatus::failed:
    case CallStatus::denied:
      break;
  }
  return call.error.value_or("");
}

TranscriptResult transcript_result(const RunCall& call) {
  TranscriptResult result{.call_id = call.call_id,
                          .tool_name = call.tool_name,
                          .arguments = call.arguments,
                          .is_error = call.status != CallStatus::completed};
  if (call.result_content) {
    result.content = *call.result_content;
  } else if (call.result) {
    result.content = *call.result;
  } else if (call.status == CallStatus::denied) {
    result.content = "denied: " + call.error.value_or("");
  } else {
    result.content = interrupted_text(call);
  }
  return result;
}

}  // namespace

RunCall RunCalls::request(const RunId& run, const NewCall& call) {
  state::check_words(call.id.str(), "the call's id", 1024);
  state::check_words(call.tool_name, "the tool's name", 1024);
  state::check_object(call.arguments, "the arguments", scope_->most());
  return scope_->write_shared(call.arguments.size(), [&](db::Session& session) {
    state::require_active(session, *scope_, run, "request a call of");
    if (const auto known = state::find_call(session, run, call.id)) {
      state::throw_call_conflict(*known, "request", "the run has a call of that id already");
    }
    const std::int64_t sequence =
        state::append_event(session, run, "tool.requested",
                            {{"call_id", call.id.str()}, {"tool", call.tool_name}}, scope_->now());
    session.run(R"(INSERT INTO run_calls(run_id, call_id, requested_sequence, tool_name, arguments,
                                         status)
                   VALUES (?, ?, ?, ?, ?, 'requested'))",
                {run, call.id, sequence, call.tool_name, call.arguments});
    return state::get_call(session, run, call.id);
  });
}

RunCall RunCalls::start(const RunId& run, const CallId& call) {
  return scope_->write_shared(0, [&](db::Session& session) {
    const auto head = state::require_active(session, *scope_, run, "start a call of");
    const RunCall row = state::require_call(session, run, call, CallStatus::requested, "start");
    state::BudgetChain chain(session, *scope_, head);
    if (const auto decision = chain.check_tool_calls(1); !decision.allowed()) {
      throw Error(ErrorCode::conflict,
                  "cannot start call " + call.str() + " of run " + run.str() +
                      ": the budget of tool calls of run " + decision.limited_by->str() +
                      " is used up",
                  {{"run_id", run.str()},
                   {"call_id", call.str()},
                   {"exceeded", to_word(*decision.exceeded)},
                   {"limited_by", decision.limited_by->str()}});
    }
    refuse_unapproved(session, row);
    const UnixMillis now = scope_->now();
    chain.charge_tool_call(now);
    session.run(
        "UPDATE run_calls SET status = 'started', started_at = ?"
        " WHERE run_id = ? AND call_id = ?",
        {now, run, call});
    state::Payload payload{{"call_id", call.str()}};
    if (auto ancestors = chain.ancestors(); !ancestors.empty()) {
      payload["charged"] = std::move(ancestors);
    }
    state::append_event(session, run, "tool.started", payload, now);
    return state::get_call(session, run, call);
  });
}

RunCall RunCalls::finish(const RunId& run, const CallId& call, const CallOutcome& outcome) {
  state::check_outcome(outcome, scope_->most());
  const state::CallStep step = state::step_of(outcome.outcome_class);
  return scope_->write_shared(outcome.result.value_or("").size(), [&](db::Session& session) {
    state::require_active(session, *scope_, run, "finish a call of");
    const RunCall row = state::require_call(session, run, call, step.from, "finish");
    std::optional<std::int64_t> count;
    if (outcome.repetition_key) count = repetition_count(session, run, *outcome.repetition_key);
    const UnixMillis now = scope_->now();
    state::store_outcome(session, row, step.event_type, step.to, outcome, count, now);
    state::close_approval(session, run, call, "tool denied", now);
    return state::get_call(session, run, call);
  });
}

std::vector<RunCall> RunCalls::list(const RunId& run) const {
  return scope_->read([&](db::Session& session) {
    state::require_run(session, *scope_, run);
    return session.all(state::select_calls + " ORDER BY c.requested_sequence", {run},
                       state::read_call);
  });
}

std::optional<RunCall> RunCalls::find(const RunId& run, const CallId& call) const {
  return scope_->read([&](db::Session& session) {
    state::require_run(session, *scope_, run);
    return state::find_call(session, run, call);
  });
}

RunCall RunCalls::get(const RunId& run, const CallId& call) const {
  return scope_->read([&](db::Session& session) {
    state::require_run(session, *scope_, run);
    return state::get_call(session, run, call);
  });
}

std::vector<TranscriptResult> RunCalls::transcript(const RunId& run) const {
  std::vector<TranscriptResult> results;
  for (const RunCall& call : list(run)) results.push_back(transcript_result(call));
  return results;
}

}  // namespace threadstore
