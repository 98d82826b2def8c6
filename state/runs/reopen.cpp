#include "state/runs/reopen.h"

#include <nlohmann/json.hpp>

#include "state/leases/lease_file.h"
#include "state/runs/event_log.h"
#include "state/runs/run_stop.h"
#include "state/runs/step_record.h"
#include "threadstore/error.h"
#include "threadstore/runs.h"

namespace threadstore {

namespace state {

void refuse_held(db::Session& session, const RunScope& scope, const RunId& run,
                 const std::string& doing) {
  if (scope.held && scope.held->run == run) return;
  const auto slot =
      session.value<std::int64_t>("SELECT slot FROM leases WHERE kind = 'run' AND id = ?", {run});
  if (slot && scope.context->leases->is_held(*slot)) {
    throw_run_conflict(doing, run, "a living process holds it");
  }
}

/// The same calls as those that need reconciliation (disposition.h).
void refuse_unsafe_call(db::Session& session, const RunId& run, const std::string& doing) {
  const auto call = session.value<std::string>(
      R"(SELECT call_id FROM run_calls WHERE run_id = ?
           AND (status IN ('started', 'indeterminate')
                OR outcome_class IN ('terminal_error', 'uncertain_side_effect', 'cancelled'))
         LIMIT 1)",
      {run});
  if (!call) return;
  throw_run_conflict(doing, run, "its call " + *call + " may have left an effect behind");
}

void append_resumed(db::Session& session, const RunHead& before, std::string_view previous_status,
                    const std::optional<ResumePoint>& point, const std::string& detail,
                    UnixMillis now) {
  Payload payload{{"previous_status", previous_status},
                  {"previous_sequence", before.last_sequence}};
  if (point) {
    payload["from_step"] = point->from_step;
    payload["committed"] = point->committed;
  }
  if (!detail.empty()) payload["detail"] = detail;
  append_event(session, before.id, "run.resumed", payload, now);
}

}  // namespace state

namespace {

using state::throw_run_conflict;

const std::string kDoing = "reopen";

void refuse_stopped(const state::RunHead& run) {
  const auto outcome = run.outcome;
  if (!outcome || outcome == RunOutcome::failed || outcome == RunOutcome::cancelled) return;
  if (outcome == RunOutcome::limit_exceeded) {
    if (run.budget_raised) return;
    throw_run_conflict(kDoing, run.id, "it stopped for a limit; raise its budget first");
  }
  throw_run_conflict(kDoing, run.id, state::describe_state(run));
}

void refuse_relatives(db::Session& session, const state::RunHead& run) {
  if (run.lineage.parent_run_id) {
    throw_run_conflict(kDoing, run.id, "it was delegated by another run");
  }
  if (session.exists("SELECT 1 FROM runs WHERE parent_run_id = ?", {run.id})) {
    throw_run_conflict(kDoing, run.id, "it delegated to other runs");
  }
}

}  // namespace

Run Runs::reopen(const RunId& run, std::int64_t expected_sequence) {
  if (expected_sequence < 1) {
    throw Error(ErrorCode::invalid_argument, "the expected sequence must be above 0");
  }
  return scope_->write([&](db::Session& session) {
    const auto head = state::require_run(session, *scope_, run);
    if (head.last_sequence != expected_sequence) {
      throw_run_conflict(kDoing, run,
                         "its last event is " + std::to_string(head.last_sequence) + ", not " +
                             std::to_string(expected_sequence) + "; look again");
    }
    refuse_stopped(head);
    if (head.lifecycle == RunLifecycle::active) state::refuse_held(session, *scope_, run, kDoing);
    refuse_relatives(session, head);
    state::refuse_unsafe_call(session, run, kDoing);
    const std::string previous(
        legacy_status(Run{.lifecycle = head.lifecycle, .outcome = head.outcome}));
    const UnixMillis now = scope_->now();
    state::reactivate(session, run, now);
    std::optional<ResumePoint> point;
    if (state::last_step(session, run) > 0) point = state::resume_point(session, run);
    state::append_resumed(session, head, previous, point, {}, now);
    return state::get_run(session, *scope_, run);
  });
}

}  // namespace threadstore
