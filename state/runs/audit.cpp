#include <nlohmann/json.hpp>

#include "state/runs/audit_record.h"
#include "state/runs/event_log.h"
#include "state/runs/run_record.h"
#include "state/threads/keyset_cursor.h"
#include "threadstore/error.h"
#include "threadstore/run_audit.h"

namespace threadstore {
namespace {

using state::RunScope;

constexpr std::size_t kMostWords = 65'536;

void check_at_step(std::int64_t step) {
  if (step >= 0) return;
  throw Error(ErrorCode::invalid_argument,
              "a step must not be negative, and is " + std::to_string(step));
}

void check_optional(const std::optional<std::string>& text, const char* what) {
  if (text) state::check_text_size(*text, what, kMostWords);
}

template <class Event>
std::int64_t append(const RunScope& scope, const RunId& run, const Event& event) {
  return scope.write_shared(0, [&](db::Session& session) {
    state::require_active(session, scope, run, "record an event of");
    return state::append_event(session, run, state::event_type(event.kind),
                               state::event_payload(event), scope.now());
  });
}

const std::string kSelect = std::string("SELECT ") + state::event_columns +
                            " FROM run_events AS e WHERE e.run_id = ?1 AND e.sequence > ?2";

/// The events of some types, which `types` names as SQL text, in the order of the log.
std::vector<RunEvent> events_of(const RunScope& scope, const RunId& run, const std::string& types,
                                std::int64_t after, std::size_t limit) {
  state::check_limit(limit);
  std::string sql = kSelect;
  sql.append(" AND e.event_type IN (").append(types);
  sql.append(") ORDER BY e.sequence LIMIT ?3");
  return scope.read([&](db::Session& session) {
    state::require_run(session, scope, run);
    return session.all(sql, {run, after, limit}, state::read_event);
  });
}

template <class Record>
std::vector<Record> read_all(const std::vector<RunEvent>& events, Record (*read)(const RunEvent&)) {
  std::vector<Record> records;
  records.reserve(events.size());
  for (const RunEvent& event : events) records.push_back(read(event));
  return records;
}

/// A spawn tells of a run that is there, below this one.
void require_child(db::Session& session, const RunId& parent, const RunId& child) {
  if (session.exists("SELECT 1 FROM runs WHERE id = ? AND parent_run_id = ?", {child, parent})) {
    return;
  }
  throw Error(ErrorCode::not_found, "run " + parent.str() + " has no child run " + child.str(),
              {{"run_id", parent.str()}, {"child_run_id", child.str()}});
}

void check_delegation(const DelegationEvent& event) {
  check_at_step(event.step);
  check_optional(event.detail, "the detail");
  if (event.kind == DelegationKind::spawn_finished) {
    throw Error(ErrorCode::invalid_argument,
                "that a spawned run finished is recorded by finishing it");
  }
  if (event.kind == DelegationKind::spawn && !event.child_run_id) {
    throw Error(ErrorCode::invalid_argument, "a spawn names the run that was spawned");
  }
  if (event.kind == DelegationKind::budget_draw && (!event.tokens || !event.remaining)) {
    throw Error(ErrorCode::invalid_argument,
                "a draw on the budget says how many tokens, and how many remain");
  }
}

}  // namespace

PolicyEvent PolicyEvent::refused(std::int64_t step, std::string act, std::string target,
                                 std::optional<std::string> rule,
                                 std::optional<std::string> layer) {
  return {.step = step,
          .kind = PolicyKind::refusal,
          .act = std::move(act),
          .target = std::move(target),
          .rule = std::move(rule),
          .layer = std::move(layer)};
}

PolicyEvent PolicyEvent::decided(std::int64_t step, std::string act, std::string target,
                                 std::string decision, std::string source,
                                 std::optional<std::string> performed) {
  return {.step = step,
          .kind = PolicyKind::decision,
          .act = std::move(act),
          .target = std::move(target),
          .decision = std::move(decision),
          .source = std::move(source),
          .performed = std::move(performed)};
}

DelegationEvent DelegationEvent::spawned(std::int64_t step, RunId child, std::string goal) {
  return {.step = step,
          .kind = DelegationKind::spawn,
          .child_run_id = std::move(child),
          .detail = std::move(goal)};
}

DelegationEvent DelegationEvent::refused(std::int64_t step, std::string cap) {
  return {.step = step, .kind = DelegationKind::spawn_refused, .detail = std::move(cap)};
}

DelegationEvent DelegationEvent::drawn(std::int64_t step, std::int64_t tokens,
                                       std::int64_t remaining) {
  return {
      .step = step, .kind = DelegationKind::budget_draw, .tokens = tokens, .remaining = remaining};
}

std::int64_t RunAudit::record(const RunId& run, const PolicyEvent& event) {
  check_at_step(event.step);
  state::check_words(event.act, "the act", 1024);
  state::check_text_size(event.target, "the target", kMostWords);
  check_optional(event.rule, "the rule");
  check_optional(event.layer, "the layer");
  check_optional(event.decision, "the decision");
  check_optional(event.source, "the source");
  check_optional(event.performed, "what was performed");
  if (event.kind == PolicyKind::decision && (!event.decision || !event.source)) {
    throw Error(ErrorCode::invalid_argument, "a decision says what was decided and by whom");
  }
  return append(*scope_, run, event);
}

std::int64_t RunAudit::record(const RunId& run, const DelegationEvent& event) {
  check_delegation(event);
  return scope_->write_shared(0, [&](db::Session& session) {
    state::require_active(session, *scope_, run, "record an event of");
    if (event.kind == DelegationKind::spawn) require_child(session, run, *event.child_run_id);
    return state::append_event(session, run, state::event_type(event.kind),
                               state::event_payload(event), scope_->now());
  });
}

std::int64_t RunAudit::record(const RunId& run, const SandboxEvent& event) {
  check_at_step(event.step);
  check_optional(event.backend, "the backend");
  check_optional(event.detail, "the detail");
  return append(*scope_, run, event);
}

std::vector<PolicyEvent> RunAudit::policy(const RunId& run, std::int64_t after,
                                          std::size_t limit) const {
  return read_all(events_of(*scope_, run, state::event_types_sql<PolicyKind>(), after, limit),
                  state::read_policy);
}

std::vector<DelegationEvent> RunAudit::delegation(const RunId& run, std::int64_t after,
                                                  std::size_t limit) const {
  return read_all(events_of(*scope_, run, state::event_types_sql<DelegationKind>(), after, limit),
                  state::read_delegation);
}

std::vector<SandboxEvent> RunAudit::sandbox(const RunId& run, std::int64_t after,
                                            std::size_t limit) const {
  return read_all(events_of(*scope_, run, state::event_types_sql<SandboxKind>(), after, limit),
                  state::read_sandbox);
}

std::vector<StepEvent> RunAudit::steps(const RunId& run, std::int64_t after,
                                       std::size_t limit) const {
  std::vector<StepEvent> marks;
  for (const RunEvent& event : events_of(*scope_, run, state::step_types_sql(), after, limit)) {
    state::read_step_marks(event, marks);
  }
  return marks;
}

}  // namespace threadstore
