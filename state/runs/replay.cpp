#include "state/runs/replay.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "state/runs/event_log.h"
#include "state/runs/run_usage.h"
#include "state/runs/tree_walk.h"
#include "state/threads/snapshot_budget.h"

namespace threadstore::state {
namespace {

std::optional<std::string> text_of(const Payload& payload, const char* key) {
  const auto found = payload.find(key);
  if (found == payload.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

std::int64_t integer_of(const Payload& payload, const char* key) {
  const auto found = payload.find(key);
  return found != payload.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

template <class Enum>
std::optional<Enum> word_of(const Payload& payload, const char* key) {
  const auto text = text_of(payload, key);
  return text ? from_word<Enum>(*text) : std::nullopt;
}

/// The events of one call, in the order of the log.
void replay_call(Replay& replay, const RunEvent& event, const Payload& payload) {
  Replay::Call& call = replay.calls[text_of(payload, "call_id").value_or("")];
  if (event.event_type == "tool.requested") {
    call = {.requested_sequence = event.sequence,
            .tool_name = text_of(payload, "tool").value_or("")};
  } else if (event.event_type == "tool.started") {
    call.status = CallStatus::started;
    call.started_at = event.timestamp;
  } else if (event.event_type == "tool.indeterminate") {
    call.status = CallStatus::indeterminate;
  } else if (event.event_type == "tool.retried") {
    call.status = CallStatus::requested;
    call.started_at.reset();
  } else {
    call.status = event.event_type == "tool.completed" ? CallStatus::completed
                  : event.event_type == "tool.denied"  ? CallStatus::denied
                                                       : CallStatus::failed;
    call.outcome_class = word_of<CallOutcomeClass>(payload, "outcome");
    call.error = text_of(payload, "error");
    call.error_code = text_of(payload, "code");
    call.repetition_key = text_of(payload, "repetition_key");
    if (call.repetition_key) call.consecutive_count = integer_of(payload, "consecutive_count");
    call.completed_at = event.timestamp;
    call.finished_sequence = event.sequence;
  }
}

/// The row of `run_approvals` that an event is about: a call's, or a deferred one's.
Replay::Approval& approval_of(Replay& replay, const Payload& payload) {
  const auto call = text_of(payload, "call_id");
  if (call || !payload.contains("request_id")) return replay.approvals[call.value_or("")];
  return replay.requests[integer_of(payload, "request_id")].approval;
}

void replay_approval(Replay& replay, const RunEvent& event, const Payload& payload) {
  Replay::Approval& approval = approval_of(replay, payload);
  if (event.event_type == "approval.requested") {
    approval = {.requested_sequence = event.sequence, .requested_at = event.timestamp};
    if (payload.contains("request_id")) {
      Replay::Request& request = replay.requests[integer_of(payload, "request_id")];
      request.step = integer_of(payload, "step");
      request.act = text_of(payload, "act").value_or("");
      request.target = text_of(payload, "target").value_or("");
    } else {
      approval.capabilities = payload.value("capabilities", Payload::array()).dump();
    }
    return;
  }
  approval.decision =
      event.event_type == "approval.granted" ? ApprovalDecision::granted : ApprovalDecision::denied;
  approval.decided_sequence = event.sequence;
  approval.decided_at = event.timestamp;
  approval.decided_by = text_of(payload, "decided_by");
  approval.reason = text_of(payload, "reason");
}

/// Why a run stopped whose event says no more than its type: an older program's.
std::optional<RunReason> legacy_reason(const std::string& type) {
  if (type == "run.completed") return RunReason::legacy_completed;
  if (type == "run.failed") return RunReason::legacy_failure;
  if (type == "run.cancelled") return RunReason::legacy_cancelled;
  return std::nullopt;
}

void replay_run(Replay& replay, const RunEvent& event, const Payload& payload) {
  if (event.sequence == 1) replay.imported = read_imported_state(payload);
  if (auto provider = text_of(payload, "provider")) replay.provider = std::move(provider);
  if (event.event_type == "run.resumed" || event.event_type == "run.continued") {
    replay.lifecycle = RunLifecycle::active;
    replay.outcome.reset();
    replay.reason_code.reset();
    replay.outcome_text.reset();
  } else if (const auto lifecycle = word_of<RunLifecycle>(payload, "lifecycle")) {
    replay.lifecycle = *lifecycle;
    replay.outcome = word_of<RunOutcome>(payload, "outcome");
    replay.reason_code = word_of<RunReason>(payload, "reason_code");
    replay.outcome_text = text_of(payload, "outcome_text");
  } else if (const auto reason = legacy_reason(event.event_type)) {
    replay.outcome = outcome_of(*reason);
    replay.lifecycle = lifecycle_after(*replay.outcome);
    replay.reason_code = reason;
  }
}

void replay_step(Replay& replay, const RunEvent& event, const Payload& payload) {
  Replay::Step& step = replay.steps[{integer_of(payload, "step"), integer_of(payload, "attempt")}];
  step = {.tokens = integer_of(payload, "tokens"), .created_at = event.timestamp};
  if (event.event_type == "step.committed") step.committed_sequence = event.sequence;
}

void replay_spawn(Replay& replay, const Payload& payload) {
  if (!payload.contains("ordinal")) return;  // a call's child, or one without a contract
  replay.spawns[{integer_of(payload, "step"), integer_of(payload, "ordinal")}] = {
      .child = text_of(payload, "child_run_id").value_or(""),
      .goal = text_of(payload, "detail").value_or("")};
}

void replay_artifact(Replay& replay, const RunEvent& event, const Payload& payload) {
  const std::string path = text_of(payload, "relative_path").value_or("");
  replay.artifacts[path] = {event.sequence, path, text_of(payload, "sha256").value_or(""),
                            integer_of(payload, "size")};
}

bool is_charge(const std::string& type) {
  return type == "model.requested" || type == "model.responded" || type == "tool.started";
}

void replay_charge(RunUsage& usage, const std::string& type, const Payload& payload) {
  if (type == "model.requested") {
    ++usage.model_turns;
  } else if (type == "tool.started") {
    ++usage.tool_calls;
  } else if (const auto tokens = payload.find("usage");
             tokens != payload.end() && tokens->is_object()) {
    usage.input_tokens =
        bounded_sum(usage.input_tokens.value_or(0), integer_of(*tokens, "input_tokens"));
    usage.output_tokens =
        bounded_sum(usage.output_tokens.value_or(0), integer_of(*tokens, "output_tokens"));
    usage.total_tokens =
        bounded_sum(usage.total_tokens.value_or(0), integer_of(*tokens, "total_tokens"));
    ++usage.responses_with_usage;
  } else {
    ++usage.responses_without_usage;
  }
}

/// What the source of an imported run said of it as a whole.
void apply_imported(Replay& replay) {
  const ImportedState& state = *replay.imported;
  replay.lifecycle = state.lifecycle;
  replay.outcome = state.outcome;
  replay.reason_code = state.reason_code;
  replay.outcome_text = state.outcome_text;
  replay.provider = state.provider;
  replay.own_usage = state.own_usage;
}

void replay_event(Replay& replay, const RunEvent& event) {
  if (event.sequence != replay.last_sequence + 1 && !replay.gap) {
    replay.gap = replay.last_sequence + 1;
  }
  replay.last_sequence = event.sequence;
  const std::string& type = event.event_type;
  const bool of_call = type.starts_with("tool.");
  const bool of_approval = type.starts_with("approval.");
  const bool of_run = type.starts_with("run.");
  const bool of_step = type.starts_with("step.");
  const bool charge = is_charge(type);
  const bool spawn = type == "delegation.started";
  const bool artifact = type == "artifact.created";
  if (!of_call && !of_approval && !of_run && !of_step && !charge && !spawn && !artifact) return;
  const Payload payload = Payload::parse(event.payload, nullptr, false);
  if (!payload.is_object()) return;
  if (of_call) replay_call(replay, event, payload);
  if (of_approval) replay_approval(replay, event, payload);
  if (of_run) replay_run(replay, event, payload);
  if (of_step) replay_step(replay, event, payload);
  if (charge) replay_charge(replay.own_usage, type, payload);
  if (spawn) replay_spawn(replay, payload);
  if (artifact) replay_artifact(replay, event, payload);
}

/// Whether an event of a run below charged the run.
bool names(const Payload& payload, const RunId& run) {
  const auto charged = payload.find("charged");
  return charged != payload.end() && charged->is_array() &&
         std::find(charged->begin(), charged->end(), Payload(run.str())) != charged->end();
}

const std::string kEventsBehind = std::string("SELECT ") + event_columns +
                                  " FROM run_events AS e WHERE e.run_id = ? AND e.sequence > ?";

/// Events of a run behind a sequence, as many as a snapshot may read; false when there were none.
template <class Visit>
bool read_some(const RunScope& scope, const RunId& run, std::int64_t after, const char* types,
               Visit&& visit) {
  std::string sql = kEventsBehind;
  sql.append(types).append(" ORDER BY e.sequence LIMIT 1000");
  return scope.read([&](db::Session& session) {
    bool any = false;
    SnapshotBudget budget;
    session.each(sql, {run, after}, [&](const db::Row& row) {
      any = true;
      const RunEvent event = read_event(row);
      visit(event);
      return budget.spend(event.payload.size());
    });
    return any;
  });
}

}  // namespace

std::int64_t Replay::step_tokens() const {
  std::int64_t sum = 0;
  for (const auto& entry : steps) sum = bounded_sum(sum, entry.second.tokens);
  return sum;
}

void replay_log(const RunScope& scope, const RunId& run, Replay& replay) {
  while (read_some(scope, run, replay.last_sequence, "", [&](const RunEvent& event) {
    replay_event(replay, event);
    if (replay.imported && replay.imported->through == event.sequence) {
      apply_imported(replay);
    }
  })) {
  }
}

RunUsage replay_charges(const RunScope& scope, const RunHead& run) {
  RunUsage usage;
  for (const TreeNode& node : walk_tree(scope, run.id)) {
    if (node.id == run.id) continue;
    std::int64_t last = 0;
    while (read_some(scope, node.id, last,
                     " AND e.event_type IN ('model.requested', 'model.responded', 'tool.started')",
                     [&](const RunEvent& event) {
                       last = event.sequence;
                       const Payload payload = Payload::parse(event.payload, nullptr, false);
                       if (!payload.is_object() || !names(payload, run.id)) return;
                       replay_charge(usage, event.event_type, payload);
                     })) {
    }
  }
  return usage;
}

}  // namespace threadstore::state
