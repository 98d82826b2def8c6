#include "cli/output/record_json.h"

namespace threadstore::cli {

Json checkpoint_json(const Checkpoint& checkpoint) {
  Json document{
      {"thread_id", checkpoint.thread_id.str()},
      {"checkpoint_id", checkpoint.checkpoint_id.str()},
      {"state", checkpoint.state_damaged ? Json(checkpoint.state) : embedded(checkpoint.state)},
      {"created_at", checkpoint.created_at},
      {"leaf_id", or_null(checkpoint.leaf_id)}};
  if (checkpoint.state_damaged) document["damaged"] = "state";
  return document;
}

Json job_json(const Job& job) {
  return {{"id", job.id.str()},
          {"name", job.name},
          {"status", to_word(job.status)},
          {"progress", or_null(job.progress)},
          {"detail", or_null(job.detail)},
          {"created_at", job.created_at},
          {"updated_at", job.updated_at},
          {"owner", or_null(job.owner)},
          {"attempts", job.attempts},
          {"max_attempts", job.max_attempts},
          {"claimed_at", or_null(job.claimed_at)},
          {"interrupted", job.interrupted}};
}

Json goal_json(const Goal& goal) {
  return {{"thread_id", goal.thread_id.str()},
          {"goal_id", goal.goal_id.str()},
          {"objective", goal.objective},
          {"status", to_word(goal.status)},
          {"token_budget", or_null(goal.token_budget)},
          {"tokens_used", goal.tokens_used},
          {"time_used_seconds", goal.time_used_seconds},
          {"created_at", goal.created_at},
          {"updated_at", goal.updated_at},
          {"continuation_count", goal.continuation_count},
          {"last_gap_fingerprint", or_null(goal.last_gap_fingerprint)},
          {"repeated_gap_count", goal.repeated_gap_count},
          {"last_gap_pass", or_null(goal.last_gap_pass)},
          {"pause_reason", goal.pause_reason ? Json(to_word(*goal.pause_reason)) : Json(nullptr)}};
}

Json tool_json(const Tool& tool) {
  return {{"position", or_null(tool.position)},
          {"name", tool.name},
          {"description", or_null(tool.description)},
          {"input_schema", embedded(tool.input_schema)}};
}

}  // namespace threadstore::cli
