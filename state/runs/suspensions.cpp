#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "state/runs/call_record.h"
#include "state/runs/event_log.h"
#include "state/runs/indeterminate.h"
#include "state/runs/request_record.h"
#include "state/runs/run_checkpoints.h"
#include "state/runs/run_stop.h"
#include "state/runs/run_usage.h"
#include "state/runs/suspension.h"
#include "threadstore/error.h"
#include "threadstore/runs.h"

namespace threadstore {

namespace state {

const std::string select_suspensions = R"sql(
  SELECT suspension_sequence, outcome, reason_code, prompt, assistant_message, suspended_at,
         continuation_input, continued_at
  FROM run_suspensions WHERE run_id = ?1)sql";

RunSuspension read_suspension(const db::Row& row) {
  return {
      .sequence = row.integer(0),
      .outcome = from_word<RunOutcome>(row.view(1)).value_or(RunOutcome::blocked),
      .reason_code = from_word<RunReason>(row.view(2)).value_or(RunReason::legacy_failure),
      .prompt = row.text(3),
      .assistant_message = row.get<std::optional<std::string>>(4),
      .suspended_at = row.integer(5),
      .continuation_input = row.get<std::optional<std::string>>(6),
      .continued_at = row.get<std::optional<UnixMillis>>(7),
  };
}

namespace {

/// The deadline after all waits; nothing without a timeout.
std::optional<std::int64_t> moved_deadline(const RunHead& run, std::int64_t suspended_ms) {
  if (!run.budgets.timeout_seconds) return std::nullopt;
  constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();
  if (*run.budgets.timeout_seconds > highest / 1000) {
    throw_run_conflict("continue", run.id, "its deadline does not fit 63 bits");
  }
  const std::int64_t start = checked_sum(run.created_at, suspended_ms, "the deadline", run.id);
  return checked_sum(start, *run.budgets.timeout_seconds * 1000, "the deadline", run.id);
}

/// An object learns how long the run waited and when it must be done. Its other members stay as
/// they were given, unless it names these itself and has to be written anew.
std::string patched_state(const std::string& state, std::int64_t suspended_ms,
                          const std::optional<std::int64_t>& deadline) {
  const std::size_t first = state.find_first_not_of(" \t\r\n");
  if (state[first] != '{') return state;
  Payload added{{"suspended_ms", suspended_ms}};
  if (deadline) added["original_deadline"] = *deadline;
  if (state.find("suspended_ms") != state.npos || state.find("original_deadline") != state.npos ||
      state.find('\\') != state.npos) {
    Payload whole = Payload::parse(state);
    whole.update(added);
    return whole.dump();
  }
  std::string text = state.substr(0, state.find_last_of('}'));
  const bool empty = text.find_first_not_of(" \t\r\n", first + 1) == text.npos;
  return text + (empty ? "" : ",") + added.dump().substr(1);
}

void check_prompted(const RunHead& run, const std::string& doing) {
  if (run.lifecycle == RunLifecycle::suspended && run.completed_at) return;
  throw_run_conflict(doing, run.id, describe_state(run));
}

}  // namespace

std::int64_t open_suspension(db::Session& session, const RunId& run) {
  const auto sequence = session.value<std::int64_t>(
      R"(SELECT suspension_sequence FROM run_suspensions
         WHERE run_id = ? AND continued_at IS NULL ORDER BY suspension_sequence DESC LIMIT 1)",
      {run});
  if (!sequence) throw_run_conflict("continue", run, "it has no suspension without an answer");
  return *sequence;
}

void resume_suspended(db::Session& session, const RunHead& run, std::int64_t suspension_sequence,
                      const std::string& input, const std::optional<NewRunCheckpoint>& checkpoint,
                      UnixMillis now) {
  // A clock that was set back must not lock the run in: the wait counts as none, and that is noted.
  const std::int64_t measured = now - run.completed_at.value_or(now);
  const std::int64_t interval = std::max<std::int64_t>(0, measured);
  const std::int64_t total = checked_sum(run.suspended_ms, interval, "suspended_ms", run.id);
  session.run(R"(UPDATE run_suspensions SET continuation_input = ?, continued_at = ?
                 WHERE run_id = ? AND suspension_sequence = ?)",
              {input, now, run.id, suspension_sequence});
  const auto deadline = moved_deadline(run, total);
  reactivate(session, run.id, now);
  session.run("UPDATE runs SET suspended_ms = ? WHERE id = ?", {total, run.id});
  if (checkpoint) {
    NewRunCheckpoint patched = *checkpoint;
    patched.state = patched_state(patched.state, total, deadline);
    insert_checkpoint(session, run.id, patched, now);
  }
  Payload payload{{"prior_outcome", word_or_null(run.outcome)},
                  {"reason_code", word_or_null(run.reason_code)},
                  {"suspension_sequence", suspension_sequence},
                  {"continuation_bytes", input.size()},
                  {"suspended_ms", total},
                  {"budgets", budgets_json(run.budgets)},
                  {"usage", usage_json(run.usage)}};
  if (measured < 0) payload["clock_went_back_ms"] = -measured;
  append_event(session, run.id, "run.continued", payload, now);
}

void abandon_run(db::Session& session, const RunScope& scope, const RunHead& run,
                 const std::string& reason, UnixMillis now) {
  const auto open =
      session.all(select_calls + R"( AND c.status IN ('requested', 'started', 'indeterminate')
                         ORDER BY c.requested_sequence)",
                  {run.id}, read_call);
  for (const RunCall& call : open) {
    const bool ran = call.status != CallStatus::requested;
    close_approval(session, run.id, call.call_id, "run interrupted", now);
    store_outcome(session, call, "tool.failed", CallStatus::failed,
                  {.outcome_class = ran ? CallOutcomeClass::uncertain_side_effect
                                        : CallOutcomeClass::interrupted,
                   .message = "run interrupted"},
                  std::nullopt, now);
  }
  close_requests(session, run.id, "run interrupted", now);
  const Payload detail = reason.empty() ? Payload::object() : Payload{{"message", reason}};
  session.run(R"(UPDATE runs SET lifecycle = 'terminal', outcome = 'cancelled',
                                 reason_code = 'abandoned', reason_detail = ?, outcome_text = NULL,
                                 completed_at = ?
                 WHERE id = ?)",
              {detail.dump(), now, run.id});
  append_event(session, run.id, "run.abandoned",
               {{"lifecycle", "terminal"},
                {"outcome", "cancelled"},
                {"reason_code", "abandoned"},
                {"reason_detail", detail},
                {"prior_reason_code", word_or_null(run.reason_code)}},
               now);
  report_to_parent(session, scope, run.id, now);
}

}  // namespace state

std::vector<RunSuspension> Runs::suspensions(const RunId& run) const {
  return scope_->read([&](db::Session& session) {
    state::require_run(session, *scope_, run);
    return session.all(state::select_suspensions + " ORDER BY suspension_sequence", {run},
                       state::read_suspension);
  });
}

std::optional<RunSuspension> Runs::latest_suspension(const RunId& run) const {
  return scope_->read([&](db::Session& session) {
    state::require_run(session, *scope_, run);
    return session.one(state::select_suspensions + " ORDER BY suspension_sequence DESC LIMIT 1",
                       {run}, state::read_suspension);
  });
}

Run Runs::continue_suspended(const RunId& run, const Continuation& continuation) {
  state::check_words(continuation.input, "the answer", max_run_prompt);
  if (continuation.expected_sequence < 1 || continuation.suspension_sequence < 1) {
    throw Error(ErrorCode::invalid_argument,
                "a continuation needs the run's last sequence and that of its suspension");
  }
  if (continuation.checkpoint) {
    state::check_checkpoint(*continuation.checkpoint, scope_->most());
  }
  return scope_->write([&](db::Session& session) {
    const auto head = state::require_run(session, *scope_, run);
    state::check_prompted(head, "continue");
    if (head.last_sequence != continuation.expected_sequence) {
      state::throw_run_conflict("continue", run,
                                "its last event is " + std::to_string(head.last_sequence) +
                                    ", not " + std::to_string(continuation.expected_sequence) +
                                    "; look again");
    }
    if (state::open_suspension(session, run) != continuation.suspension_sequence) {
      state::throw_run_conflict("continue", run, "it waits for the answer to another suspension");
    }
    if (!state::indeterminate_calls(session, run).empty()) {
      state::throw_run_conflict("continue", run,
                                "calls with an unknown effect need their answers first");
    }
    state::resume_suspended(session, head, continuation.suspension_sequence, continuation.input,
                            continuation.checkpoint, scope_->now());
    return state::get_run(session, *scope_, run);
  });
}

Run Runs::abandon(const RunId& run, const std::string& reason) {
  state::check_text_size(reason, "the reason", max_run_prompt);
  return scope_->write([&](db::Session& session) {
    const auto head = state::require_run(session, *scope_, run);
    state::check_prompted(head, "abandon");
    state::abandon_run(session, *scope_, head, reason, scope_->now());
    return state::get_run(session, *scope_, run);
  });
}

}  // namespace threadstore
