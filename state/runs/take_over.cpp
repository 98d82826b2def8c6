#include <nlohmann/json.hpp>

#include "state/runs/event_log.h"
#include "state/runs/indeterminate.h"
#include "state/runs/run_stop.h"
#include "state/runs/suspension.h"
#include "threadstore/error.h"
#include "threadstore/runs.h"

// A call that started and did not end when its owner went is neither done nor undone: only a person
// or a look at the world can tell. Everything here is one transaction with the change of owner.
namespace threadstore {
namespace {

using state::Payload;

std::string question_about(const std::vector<RunCall>& calls) {
  std::string text = "the effect is not known of call";
  text += calls.size() == 1 ? " " : "s ";
  for (const RunCall& call : calls) {
    if (&call != &calls.front()) text += ", ";
    text += call.call_id.str() + " (" + call.tool_name + ")";
    if (text.size() > max_run_prompt - 2200) return text + " …";
  }
  return text;
}

/// Suspends an active run that somebody left in the middle of a call.
void settle(db::Session& session, const state::RunScope& scope, const RunId& run, UnixMillis now) {
  const auto head = state::require_run(session, scope, run);
  if (head.lifecycle != RunLifecycle::active) return;
  const auto calls = state::mark_indeterminate(session, run, now);
  if (calls.empty()) return;
  state::RunStop stop{.reason = RunReason::effect_unknown, .prompt = question_about(calls)};
  Payload ids = Payload::array();
  for (const RunCall& call : calls) ids.push_back(call.call_id.str());
  stop.detail = Payload{{"message", stop.prompt}, {"calls", std::move(ids)}}.dump();
  state::stop_alone(session, scope, head, stop, now);
}

void log_change_of_owner(db::Session& session, const RunId& run, const LeaseState& before,
                         const std::string& program, UnixMillis now) {
  state::append_event(session, run, "run.taken_over",
                      {{"by", program},
                       {"from", before.owner.program},
                       {"from_process", before.owner.pid},
                       {"from_host", before.owner.host},
                       {"was_alive", before.alive},
                       {"generation", before.token.generation + 1}},
                      now);
}

}  // namespace

HeldRun Runs::acquire(const RunId& run, const std::string& program) {
  return hold(run, program, /*from_anybody=*/false);
}

HeldRun Runs::take_over(const RunId& run, const std::string& program) {
  return hold(run, program, /*from_anybody=*/true);
}

HeldRun Runs::hold(const RunId& run, const std::string& program, bool from_anybody) {
  state::check_words(program, "the program's name", 1024);
  return scope_->write([&](db::Session& session) {
    state::require_run(session, *scope_, run);
    Leases leases(scope_->context);
    const auto before = leases.find(LeaseKind::run, run.str());
    Lease lease = from_anybody ? leases.take_over(LeaseKind::run, run.str(), program)
                               : leases.acquire(LeaseKind::run, run.str(), program);
    const UnixMillis now = scope_->now();
    if (before) log_change_of_owner(session, run, *before, program, now);
    settle(session, *scope_, run, now);
    return HeldRun{.run = state::get_run(session, *scope_, run), .lease = std::move(lease)};
  });
}

Run Runs::answer_effect(const RunId& run, const EffectAnswer& answer) {
  state::check_words(answer.answered_by, "who answers", 1024);
  state::check_content(answer.observation, "the observation", scope_->most());
  return scope_->write([&](db::Session& session) {
    const auto head = state::require_run(session, *scope_, run);
    if (head.reason_code != RunReason::effect_unknown) {
      state::throw_run_conflict("answer for a call of", run, state::describe_state(head));
    }
    const RunCall call =
        state::require_call(session, run, answer.call, CallStatus::indeterminate, "answer for");
    const UnixMillis now = scope_->now();
    switch (answer.kind) {
      case EffectAnswer::Kind::completed:
        state::store_outcome(session, call, "tool.completed", CallStatus::completed,
                             CallOutcome::completed(answer.observation), std::nullopt, now,
                             answer.answered_by);
        break;
      case EffectAnswer::Kind::retry:
        session.run(R"(UPDATE run_calls SET status = 'requested', started_at = NULL
                       WHERE run_id = ? AND call_id = ?)",
                    {run, answer.call});
        state::append_event(session, run, "tool.retried",
                            {{"call_id", answer.call.str()}, {"answered_by", answer.answered_by}},
                            now);
        break;
      case EffectAnswer::Kind::abort:
        state::abandon_run(session, *scope_, head,
                           "given up by " + answer.answered_by + ": the effect of call " +
                               answer.call.str() + " is not known",
                           now);
        return state::get_run(session, *scope_, run);
    }
    if (state::indeterminate_calls(session, run).empty()) {
      state::resume_suspended(session, head, state::open_suspension(session, run),
                              std::string(to_word(answer.kind)), std::nullopt, now);
    }
    return state::get_run(session, *scope_, run);
  });
}

}  // namespace threadstore
