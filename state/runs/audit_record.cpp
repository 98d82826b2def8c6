#include "state/runs/audit_record.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

namespace threadstore::state {
namespace {

/// What a damaged payload may say must not use up the memory.
constexpr std::int64_t kMostSkipped = 1'000'000;

template <class Kind>
using Types = std::array<std::pair<Kind, std::string_view>, EnumNames<Kind>::table.size()>;

constexpr Types<PolicyKind> kPolicyTypes{{
    {PolicyKind::refusal, "policy.refused"},
    {PolicyKind::decision, "policy.decided"},
}};
constexpr Types<DelegationKind> kDelegationTypes{{
    {DelegationKind::spawn, "delegation.started"},
    {DelegationKind::spawn_refused, "delegation.refused"},
    {DelegationKind::spawn_finished, "delegation.finished"},
    {DelegationKind::budget_draw, "budget.drawn"},
}};
constexpr Types<SandboxKind> kSandboxTypes{{
    {SandboxKind::create, "sandbox.created"},
    {SandboxKind::exec, "sandbox.exec"},
    {SandboxKind::cap_hit, "sandbox.cap_hit"},
    {SandboxKind::net_deny, "sandbox.net_denied"},
    {SandboxKind::destroy, "sandbox.destroyed"},
}};

constexpr std::string_view kStepTypes[]{"step.committed", "run.resumed"};

/// The list of types that belongs to a kind.
constexpr const auto& types_of(PolicyKind) { return kPolicyTypes; }
constexpr const auto& types_of(DelegationKind) { return kDelegationTypes; }
constexpr const auto& types_of(SandboxKind) { return kSandboxTypes; }

void add_quoted(std::string& list, std::string_view type) {
  if (!list.empty()) list += ", ";
  list.append(1, '\'').append(type).append(1, '\'');
}

template <class Kind>
std::string_view type_of(const Types<Kind>& types, Kind kind) {
  for (const auto& [candidate, type] : types) {
    if (candidate == kind) return type;
  }
  return types.front().second;
}

template <class Kind>
Kind kind_of(const Types<Kind>& types, std::string_view type) {
  for (const auto& [kind, candidate] : types) {
    if (candidate == type) return kind;
  }
  return types.front().first;
}

template <class T>
void add(Payload& payload, const char* key, const std::optional<T>& value) {
  if (value) payload[key] = *value;
}

class Fields {
 public:
  explicit Fields(const RunEvent& event) : json_(Payload::parse(event.payload, nullptr, false)) {
    if (!json_.is_object()) json_ = Payload::object();
  }

  std::optional<std::string> text(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end() || !found->is_string()) return std::nullopt;
    return found->get<std::string>();
  }
  std::optional<std::int64_t> integer(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end() || !found->is_number_integer()) return std::nullopt;
    return found->get<std::int64_t>();
  }
  template <class Id>
  std::optional<Id> id(const char* key) const {
    const auto value = text(key);
    return value ? std::optional(Id(*value)) : std::nullopt;
  }

 private:
  Payload json_;
};

}  // namespace

std::string_view event_type(PolicyKind kind) { return type_of(kPolicyTypes, kind); }
std::string_view event_type(DelegationKind kind) { return type_of(kDelegationTypes, kind); }
std::string_view event_type(SandboxKind kind) { return type_of(kSandboxTypes, kind); }

template <class Kind>
std::string event_types_sql() {
  std::string list;
  for (const auto& entry : types_of(Kind())) add_quoted(list, entry.second);
  return list;
}
template std::string event_types_sql<PolicyKind>();
template std::string event_types_sql<DelegationKind>();
template std::string event_types_sql<SandboxKind>();

std::string step_types_sql() {
  std::string list;
  for (const std::string_view type : kStepTypes) add_quoted(list, type);
  return list;
}

Payload event_payload(const PolicyEvent& event) {
  Payload payload{{"step", event.step}, {"act", event.act}, {"target", event.target}};
  add(payload, "rule", event.rule);
  add(payload, "layer", event.layer);
  add(payload, "decision", event.decision);
  add(payload, "source", event.source);
  add(payload, "performed", event.performed);
  return payload;
}

Payload event_payload(const DelegationEvent& event) {
  Payload payload{{"step", event.step}};
  if (event.child_run_id) payload["child_run_id"] = event.child_run_id->str();
  if (event.call_id) payload["call_id"] = event.call_id->str();
  add(payload, "detail", event.detail);
  add(payload, "tokens", event.tokens);
  add(payload, "remaining", event.remaining);
  return payload;
}

Payload event_payload(const SandboxEvent& event) {
  Payload payload{{"step", event.step}};
  add(payload, "backend", event.backend);
  add(payload, "detail", event.detail);
  return payload;
}

PolicyEvent read_policy(const RunEvent& event) {
  const Fields fields(event);
  return {
      .sequence = event.sequence,
      .at = event.timestamp,
      .step = fields.integer("step").value_or(0),
      .kind = kind_of(kPolicyTypes, event.event_type),
      .act = fields.text("act").value_or(""),
      .target = fields.text("target").value_or(""),
      .rule = fields.text("rule"),
      .layer = fields.text("layer"),
      .decision = fields.text("decision"),
      .source = fields.text("source"),
      .performed = fields.text("performed"),
  };
}

DelegationEvent read_delegation(const RunEvent& event) {
  const Fields fields(event);
  DelegationEvent read{
      .sequence = event.sequence,
      .at = event.timestamp,
      .step = fields.integer("step").value_or(0),
      .kind = kind_of(kDelegationTypes, event.event_type),
      .child_run_id = fields.id<RunId>("child_run_id"),
      .call_id = fields.id<CallId>("call_id"),
      .detail = fields.text("detail"),
      .tokens = fields.integer("tokens"),
      .remaining = fields.integer("remaining"),
  };
  if (read.kind == DelegationKind::spawn_finished) read.detail = fields.text("outcome");
  return read;
}

SandboxEvent read_sandbox(const RunEvent& event) {
  const Fields fields(event);
  return {
      .sequence = event.sequence,
      .at = event.timestamp,
      .step = fields.integer("step").value_or(0),
      .kind = kind_of(kSandboxTypes, event.event_type),
      .backend = fields.text("backend"),
      .detail = fields.text("detail"),
  };
}

void read_step_marks(const RunEvent& event, std::vector<StepEvent>& marks) {
  const Fields fields(event);
  StepEvent mark{.sequence = event.sequence, .at = event.timestamp};
  if (event.event_type == kStepTypes[0]) {
    mark.step = fields.integer("step").value_or(0);
    marks.push_back(mark);
    return;
  }
  const auto from = fields.integer("from_step");
  if (!from) return;  // a run without steps was reopened
  mark.step = *from;
  mark.kind = StepKind::resume;
  mark.detail = fields.text("detail");
  marks.push_back(mark);
  mark.kind = StepKind::skipped;
  mark.detail.reset();
  const std::int64_t committed = std::min(fields.integer("committed").value_or(0), kMostSkipped);
  for (mark.step = 1; mark.step <= committed; ++mark.step) marks.push_back(mark);
}

}  // namespace threadstore::state
