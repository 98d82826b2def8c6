#include "exchange/native_fields.h"
#include "exchange/native_records.h"

namespace threadstore::exchange {

using namespace native_fields;

namespace {

RunCall call(JsonText line, const RunId& run) {
  return {.run_id = run,
          .call_id = CallId(text_or_empty(line, "call_id")),
          .requested_sequence = number(line, "requested_sequence"),
          .tool_name = text_or_empty(line, "tool_name"),
          .arguments = native_json(line, "arguments").value_or("{}"),
          .status = word(line, "status", CallStatus::indeterminate),
          .outcome_class = word_or_none<CallOutcomeClass>(line, "outcome_class"),
          .result = native_json(line, "result"),
          .result_content = text(line, "result_content"),
          .error = text(line, "error"),
          .error_code = text(line, "error_code"),
          .repetition_key = text(line, "repetition_key"),
          .consecutive_count = number_or_none(line, "consecutive_count"),
          .started_at = number_or_none(line, "started_at"),
          .completed_at = number_or_none(line, "completed_at"),
          .finished_sequence = number_or_none(line, "finished_sequence")};
}

RunApproval approval(JsonText line, const RunId& run) {
  RunApproval approval{.run_id = run,
                       .call_id = CallId(text_or_empty(line, "call_id")),
                       .requested_sequence = number(line, "requested_sequence"),
                       .requested_at = number(line, "requested_at"),
                       .decision = word_or_none<ApprovalDecision>(line, "decision"),
                       .decided_sequence = number_or_none(line, "decided_sequence"),
                       .decided_at = number_or_none(line, "decided_at"),
                       .decided_by = text(line, "decided_by"),
                       .reason = text(line, "reason")};
  line["capabilities"].each([&](JsonText capability) {
    const auto known = from_word<Capability>(capability.string());
    if (known) approval.capabilities.push_back(*known);
  });
  return approval;
}

RunSuspension suspension(JsonText line) {
  return {.sequence = number(line, "sequence"),
          .outcome = word(line, "outcome", RunOutcome::blocked),
          .reason_code = word(line, "reason_code", RunReason::legacy_failure),
          .prompt = text_or_empty(line, "prompt"),
          .assistant_message = native_json(line, "assistant_message"),
          .suspended_at = number(line, "suspended_at"),
          .continuation_input = text(line, "continuation_input"),
          .continued_at = number_or_none(line, "continued_at")};
}

RunCheckpoint run_checkpoint(JsonText line, const RunId& run) {
  return {.run_id = run,
          .sequence = number(line, "sequence"),
          .schema_version = number(line, "schema_version"),
          .turn = number(line, "turn"),
          .name = text(line, "name"),
          .created_at = number(line, "created_at"),
          .state = native_json(line, "state").value_or("{}")};
}

RunStep step(JsonText line, const RunId& run) {
  return {.run_id = run,
          .step = number(line, "step"),
          .attempt = number(line, "attempt"),
          .decision = text_or_empty(line, "decision"),
          .result = text_or_empty(line, "result"),
          .prompt = text_or_empty(line, "prompt"),
          .tool_call = text_or_empty(line, "tool_call"),
          .tokens = number(line, "tokens"),
          .created_at = number(line, "created_at"),
          .committed_sequence = number_or_none(line, "committed_sequence")};
}

DeferredApproval request(JsonText line, const RunId& run) {
  return {.request_id = RequestId{number(line, "request_id")},
          .run_id = run,
          .step = number(line, "step"),
          .act = text_or_empty(line, "act"),
          .target = text_or_empty(line, "target"),
          .content = text(line, "content"),
          .key = text(line, "key"),
          .requested_sequence = number(line, "requested_sequence"),
          .requested_at = number(line, "requested_at"),
          .decision = word_or_none<ApprovalDecision>(line, "decision"),
          .decided_sequence = number_or_none(line, "decided_sequence"),
          .decided_at = number_or_none(line, "decided_at"),
          .decided_by = text(line, "decided_by"),
          .reason = text(line, "reason"),
          .origin_id = text(line, "origin_id")};
}

SpawnContract spawn(JsonText line, const RunId& run) {
  return {.parent_run_id = RunId(text_or_empty(line, "parent_run_id")),
          .step = number(line, "step"),
          .ordinal = number(line, "ordinal"),
          .child_run_id = run,
          .goal = text_or_empty(line, "goal"),
          .verify_file = text_or_empty(line, "verify_file"),
          .needle = text_or_empty(line, "needle"),
          .max_steps = number_or_none(line, "max_steps"),
          .deny_write = native_json(line, "deny_write").value_or("[]"),
          .created_at = number(line, "created_at")};
}

RunUsage usage(JsonText given) {
  return {.model_turns = number(given, "model_turns"),
          .input_tokens = number_or_none(given, "input_tokens"),
          .output_tokens = number_or_none(given, "output_tokens"),
          .total_tokens = number_or_none(given, "total_tokens"),
          .responses_with_usage = number(given, "responses_with_usage"),
          .responses_without_usage = number(given, "responses_without_usage"),
          .tool_calls = number(given, "tool_calls")};
}

}  // namespace

RunRecord native_run(JsonText line) {
  const JsonText budgets = line["budgets"];
  return {.run = {.id = RunId(text_or_empty(line, "id")),
                  .workspace_id = text_or_empty(line, "workspace_id"),
                  .trigger_message_id = message_id(line, "trigger_message_id"),
                  .reply_message_id = message_id(line, "reply_message_id"),
                  .agent_name = text_or_empty(line, "agent_name"),
                  .agent_version = text_or_empty(line, "agent_version"),
                  .model = text_or_empty(line, "model"),
                  .provider = text(line, "provider"),
                  .lifecycle = word(line, "lifecycle", RunLifecycle::suspended),
                  .outcome = word_or_none<RunOutcome>(line, "outcome"),
                  .reason_code = word_or_none<RunReason>(line, "reason_code"),
                  .reason_detail = native_json(line, "reason_detail"),
                  .outcome_text = text(line, "outcome_text"),
                  .created_at = number(line, "created_at"),
                  .updated_at = number(line, "updated_at"),
                  .completed_at = number_or_none(line, "completed_at"),
                  .input = text_or_empty(line, "input"),
                  .file = text(line, "file"),
                  .output = text(line, "output"),
                  .error = text(line, "error"),
                  .last_sequence = number(line, "last_sequence"),
                  .budgets = {.max_turns = number_or_none(budgets, "max_turns"),
                              .timeout_seconds = number_or_none(budgets, "timeout_seconds"),
                              .max_total_tokens = number_or_none(budgets, "max_total_tokens"),
                              .max_tool_calls = number_or_none(budgets, "max_tool_calls"),
                              .max_context_bytes = number_or_none(budgets, "max_context_bytes")},
                  .usage = usage(line["usage"]),
                  .suspended_ms = number(line, "suspended_ms"),
                  .lineage = {.root_run_id = RunId(text_or_empty(line, "root_run_id")),
                              .parent_run_id = id_or_none<RunId>(line, "parent_run_id"),
                              .parent_call_id = id_or_none<CallId>(line, "parent_call_id"),
                              .depth = number(line, "depth")},
                  .key = text(line, "key"),
                  .origin_source = text(line, "origin_source"),
                  .origin_id = text(line, "origin_id")},
          .active_since = number(line, "active_since"),
          .budget_raised = budgets["raised"].is_true(),
          .usage_below = usage(line["usage_below"]),
          .removed_step_tokens = number(line, "removed_step_tokens")};
}

bool add_native_run_part(JsonText line, const std::string& type, RunRecord& record) {
  const RunId& run = record.run.id;
  if (type == "run_call") {
    record.calls.push_back(call(line, run));
  } else if (type == "run_approval") {
    record.approvals.push_back(approval(line, run));
  } else if (type == "run_suspension") {
    record.suspensions.push_back(suspension(line));
  } else if (type == "run_checkpoint") {
    record.checkpoints.push_back(run_checkpoint(line, run));
  } else if (type == "run_artifact") {
    record.artifacts.push_back({.sequence = number(line, "sequence"),
                                .relative_path = text_or_empty(line, "relative_path"),
                                .sha256 = text_or_empty(line, "sha256"),
                                .size = number(line, "size")});
  } else if (type == "run_step") {
    record.steps.push_back(step(line, run));
  } else if (type == "run_request") {
    record.requests.push_back(request(line, run));
  } else if (type == "run_spawn") {
    record.spawned_for.push_back(spawn(line, run));
  } else {
    return false;
  }
  return true;
}

RunEvent native_event(JsonText line) {
  return {.sequence = number(line, "sequence"),
          .timestamp = number(line, "timestamp"),
          .event_type = text_or_empty(line, "event_type"),
          .payload = native_json(line, "payload").value_or("null")};
}

}  // namespace threadstore::exchange
