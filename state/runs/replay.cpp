#include "state/runs/replay.h"

#include <nlohmann/json.hpp>

#include "state/runs/call_record.h"
#include "state/runs/event_log.h"
#include "state/runs/run_usage.h"

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

void replay_approval(Replay& replay, const RunEvent& event, const Payload& payload) {
  Replay::Approval& approval = replay.approvals[text_of(payload, "call_id").value_or("")];
  if (event.event_type == "approval.requested") {
    approval = {.capabilities = payload.value("capabilities", Payload::array()).dump(),
                .requested_sequence = event.sequence,
                .requested_at = event.timestamp};
    return;
  }
  approval.decision =
      event.event_type == "approval.granted" ? ApprovalDecision::granted : ApprovalDecision::denied;
  approval.decided_sequence = event.sequence;
  approval.decided_at = event.timestamp;
  approval.decided_by = text_of(payload, "decided_by");
  approval.reason = text_of(payload, "reason");
}

void replay_run(Replay& replay, const RunEvent& event, const Payload& payload) {
  if (event.event_type == "run.resumed" || event.event_type == "run.continued") {
    replay.lifecycle = RunLifecycle::active;
    replay.outcome.reset();
    replay.reason_code.reset();
  } else if (const auto lifecycle = word_of<RunLifecycle>(payload, "lifecycle")) {
    replay.lifecycle = *lifecycle;
    replay.outcome = word_of<RunOutcome>(payload, "outcome");
    replay.reason_code = word_of<RunReason>(payload, "reason_code");
  }
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
  if (!of_call && !of_approval && !of_run && type != "artifact.created") return;
  const Payload payload = Payload::parse(event.payload, nullptr, false);
  if (!payload.is_object()) return;
  if (of_call) replay_call(replay, event, payload);
  if (of_approval) replay_approval(replay, event, payload);
  if (of_run) replay_run(replay, event, payload);
  if (type == "artifact.created") {
    const std::string path = text_of(payload, "relative_path").value_or("");
    replay.artifacts[path] = {event.sequence, path, text_of(payload, "sha256").value_or(""),
                              integer_of(payload, "size")};
  }
}

/// Whether an event of a run below charged the run.
bool names(const Payload& payload, const RunId& run) {
  const auto charged = payload.find("charged");
  return charged != payload.end() && charged->is_array() &&
         std::find(charged->begin(), charged->end(), Payload(run.str())) != charged->end();
}

void replay_charge(RunUsage& usage, const std::string& type, const Payload& payload) {
  if (type == "model.requested") {
    ++usage.model_turns;
  } else if (type == "tool.started") {
    ++usage.tool_calls;
  } else if (const auto tokens = payload.find("usage");
             tokens != payload.end() && tokens->is_object()) {
    usage.input_tokens = usage.input_tokens.value_or(0) + integer_of(*tokens, "input_tokens");
    usage.output_tokens = usage.output_tokens.value_or(0) + integer_of(*tokens, "output_tokens");
    usage.total_tokens = usage.total_tokens.value_or(0) + integer_of(*tokens, "total_tokens");
    ++usage.responses_with_usage;
  } else {
    ++usage.responses_without_usage;
  }
}

}  // namespace

Replay replay_log(db::Session& session, const RunId& run) {
  Replay replay;
  session.each(std::string("SELECT ") + event_columns +
                   " FROM run_events AS e WHERE e.run_id = ? ORDER BY e.sequence",
               {run}, [&](const db::Row& row) { replay_event(replay, read_event(row)); });
  return replay;
}

RunUsage replay_usage(db::Session& session, const RunHead& run) {
  RunUsage usage;
  session.each(R"(SELECT e.run_id, e.event_type, e.payload
                  FROM runs AS r JOIN run_events AS e ON e.run_id = r.id
                  WHERE r.root_run_id = ?
                    AND e.event_type IN ('model.requested', 'model.responded', 'tool.started'))",
               {run.lineage.root_run_id}, [&](const db::Row& row) {
                 const Payload payload = Payload::parse(row.view(2), nullptr, false);
                 if (!payload.is_object()) return;
                 if (row.view(0) == run.id.str() || names(payload, run.id)) {
                   replay_charge(usage, row.text(1), payload);
                 }
               });
  return usage;
}

Replay read_projections(db::Session& session, const RunHead& run) {
  Replay tables{.last_sequence = run.last_sequence,
                .lifecycle = run.lifecycle,
                .outcome = run.outcome,
                .reason_code = run.reason_code};
  session.each(select_calls, {run.id}, [&](const db::Row& row) {
    const RunCall call = read_call(row);
    tables.calls[call.call_id.str()] = {.requested_sequence = call.requested_sequence,
                                        .tool_name = call.tool_name,
                                        .status = call.status,
                                        .outcome_class = call.outcome_class,
                                        .error = call.error,
                                        .error_code = call.error_code,
                                        .repetition_key = call.repetition_key,
                                        .consecutive_count = call.consecutive_count,
                                        .started_at = call.started_at,
                                        .completed_at = call.completed_at,
                                        .finished_sequence = call.finished_sequence};
  });
  session.each(R"(SELECT call_id, capabilities, requested_sequence, requested_at, decision,
                         decided_sequence, decided_at, decided_by, reason
                  FROM run_approvals WHERE run_id = ? AND call_id IS NOT NULL)",
               {run.id}, [&](const db::Row& row) {
                 tables.approvals[row.text(0)] = {
                     .capabilities = row.text(1),
                     .requested_sequence = row.integer(2),
                     .requested_at = row.integer(3),
                     .decision = from_word<ApprovalDecision>(row.view(4)),
                     .decided_sequence = row.get<std::optional<std::int64_t>>(5),
                     .decided_at = row.get<std::optional<UnixMillis>>(6),
                     .decided_by = row.get<std::optional<std::string>>(7),
                     .reason = row.get<std::optional<std::string>>(8)};
               });
  session.each(
      "SELECT sequence, relative_path, sha256, size FROM run_artifacts WHERE run_id = ?", {run.id},
      [&](const db::Row& row) {
        tables.artifacts[row.text(1)] = {row.integer(0), row.text(1), row.text(2), row.integer(3)};
      });
  return tables;
}

}  // namespace threadstore::state
