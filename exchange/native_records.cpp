#include "exchange/native_records.h"

#include "exchange/native_fields.h"
#include "threadstore/error.h"

namespace threadstore::exchange {

using namespace native_fields;

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

}  // namespace threadstore::exchange
