#include "exchange/native_records.h"

#include "threadstore/error.h"

namespace threadstore::exchange {
namespace {

std::optional<std::string> text(JsonText line, const char* name) {
  return line[name].string_or_none();
}

std::string text_or_empty(JsonText line, const char* name) { return line[name].string(); }

std::int64_t number(JsonText line, const char* name) { return line[name].integer().value_or(0); }

std::optional<std::int64_t> number_or_none(JsonText line, const char* name) {
  return line[name].integer();
}

std::optional<MessageId> message_id(JsonText line, const char* name) {
  const auto id = line[name].integer();
  return id ? std::optional(MessageId{*id}) : std::nullopt;
}

template <class Id>
std::optional<Id> id_or_none(JsonText line, const char* name) {
  const auto id = line[name].string_or_none();
  return id ? std::optional(Id(*id)) : std::nullopt;
}

template <class Enum>
Enum word(JsonText line, const char* name, Enum otherwise) {
  return from_word<Enum>(line[name].string()).value_or(otherwise);
}

template <class Enum>
std::optional<Enum> word_or_none(JsonText line, const char* name) {
  const auto given = line[name].string_or_none();
  return given ? from_word<Enum>(*given) : std::nullopt;
}

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

}  // namespace

std::optional<std::string> native_json(JsonText line, const std::string& name) {
  if (auto given = line[name + "_text"].string_or_none()) return given;
  const JsonText value = line[name];
  // Null says that there is none; a value that is null is given as a text.
  return value.is_null() ? std::nullopt : std::optional(std::string(value.raw()));
}

Thread native_thread(JsonText line) {
  Thread thread{.id = ThreadId(text_or_empty(line, "id")),
                .rollout_path = text(line, "rollout_path"),
                .preview = text_or_empty(line, "preview"),
                .ephemeral = line["ephemeral"].is_true(),
                .model_provider = text_or_empty(line, "model_provider"),
                .created_at = number(line, "created_at"),
                .updated_at = number(line, "updated_at"),
                .status = word(line, "status", ThreadStatus::idle),
                .path = text(line, "path"),
                .cwd = text_or_empty(line, "cwd"),
                .cli_version = text_or_empty(line, "cli_version"),
                .source = word(line, "source", SessionSource::unknown),
                .name = text(line, "name"),
                .sandbox_policy = text(line, "sandbox_policy"),
                .approval_mode = text(line, "approval_mode"),
                .archived = line["archived"].is_true(),
                .archived_at = number_or_none(line, "archived_at"),
                .git_sha = text(line, "git_sha"),
                .git_branch = text(line, "git_branch"),
                .git_origin_url = text(line, "git_origin_url"),
                .memory_mode = text(line, "memory_mode"),
                .current_leaf_id = message_id(line, "current_leaf_id"),
                .forked_from = {},
                .interrupted = false};
  const JsonText origin = line["forked_from"];
  if (const auto source = id_or_none<ThreadId>(origin, "thread_id")) {
    thread.forked_from = ForkOrigin{*source, message_id(origin, "message_id")};
  }
  return thread;
}

Checkpoint native_checkpoint(JsonText line) {
  return {.checkpoint_id = CheckpointId(text_or_empty(line, "checkpoint_id")),
          .state = native_json(line, "state").value_or("null"),
          .created_at = number(line, "created_at"),
          .leaf_id = message_id(line, "leaf_id"),
          .restorable = line["restorable"].is_true()};
}

Tool native_tool(JsonText line) {
  return {.position = number_or_none(line, "position"),
          .name = text_or_empty(line, "name"),
          .description = text(line, "description"),
          .input_schema = native_json(line, "input_schema").value_or("null")};
}

Goal native_goal(JsonText line) {
  const auto status = from_word<GoalStatus>(text_or_empty(line, "status"));
  if (!status) {
    throw Error(ErrorCode::invalid_argument,
                "the goal's status '" + text_or_empty(line, "status") + "' is not known");
  }
  return {.goal_id = GoalId(text_or_empty(line, "goal_id")),
          .objective = text_or_empty(line, "objective"),
          .status = *status,
          .token_budget = number_or_none(line, "token_budget"),
          .tokens_used = number(line, "tokens_used"),
          .time_used_seconds = number(line, "time_used_seconds"),
          .created_at = number(line, "created_at"),
          .updated_at = number(line, "updated_at"),
          .continuation_count = number(line, "continuation_count"),
          .last_gap_fingerprint = text(line, "last_gap_fingerprint"),
          .repeated_gap_count = number(line, "repeated_gap_count"),
          .last_gap_pass = number_or_none(line, "last_gap_pass"),
          .pause_reason = word_or_none<GoalPauseReason>(line, "pause_reason")};
}

RunRecord native_run(JsonText line) {
  const JsonText budgets = line["budgets"];
  const JsonText usage = line["usage"];
  return {.run = {.id = RunId(text_or_empty(line, "id")),
                  .workspace_id = text_or_empty(line, "workspace_id"),
                  .trigger_message_id = message_id(line, "trigger_message_id"),
                  .reply_message_id = message_id(line, "reply_message_id"),
                  .agent_name = text_or_empty(line, "agent_name"),
                  .agent_version = text_or_empty(line, "agent_version"),
                  .model = text_or_empty(line, "model"),
                  .lifecycle = word(line, "lifecycle", RunLifecycle::suspended),
                  .outcome = word_or_none<RunOutcome>(line, "outcome"),
                  .reason_code = word_or_none<RunReason>(line, "reason_code"),
                  .reason_detail = native_json(line, "reason_detail"),
                  .outcome_text = text(line, "outcome_text"),
                  .created_at = number(line, "created_at"),
                  .updated_at = number(line, "updated_at"),
                  .completed_at = number_or_none(line, "completed_at"),
                  .input = text_or_empty(line, "input"),
                  .output = text(line, "output"),
                  .error = text(line, "error"),
                  .last_sequence = number(line, "last_sequence"),
                  .budgets = {.max_turns = number_or_none(budgets, "max_turns"),
                              .timeout_seconds = number_or_none(budgets, "timeout_seconds"),
                              .max_total_tokens = number_or_none(budgets, "max_total_tokens"),
                              .max_tool_calls = number_or_none(budgets, "max_tool_calls"),
                              .max_context_bytes = number_or_none(budgets, "max_context_bytes")},
                  .usage = {.model_turns = number(usage, "model_turns"),
                            .input_tokens = number_or_none(usage, "input_tokens"),
                            .output_tokens = number_or_none(usage, "output_tokens"),
                            .total_tokens = number_or_none(usage, "total_tokens"),
                            .responses_with_usage = number(usage, "responses_with_usage"),
                            .responses_without_usage = number(usage, "responses_without_usage"),
                            .tool_calls = number(usage, "tool_calls")},
                  .suspended_ms = number(line, "suspended_ms"),
                  .lineage = {.root_run_id = RunId(text_or_empty(line, "root_run_id")),
                              .parent_run_id = id_or_none<RunId>(line, "parent_run_id"),
                              .parent_call_id = id_or_none<CallId>(line, "parent_call_id"),
                              .depth = number(line, "depth")},
                  .key = text(line, "key"),
                  .origin_id = text(line, "origin_id")},
          .active_since = number(line, "active_since"),
          .budget_raised = budgets["raised"].is_true()};
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
