#include "cli/output/run_json.h"

namespace threadstore::cli {
namespace {

template <class Enum>
Json word_or_null(const std::optional<Enum>& value) {
  return value ? Json(to_word(*value)) : Json(nullptr);
}

Json embedded_or_null(const std::optional<std::string>& json) {
  return json ? embedded(*json) : Json(nullptr);
}

}  // namespace

Json budgets_json(const RunBudgets& budgets) {
  return {{"max_turns", or_null(budgets.max_turns)},
          {"timeout_seconds", or_null(budgets.timeout_seconds)},
          {"max_total_tokens", or_null(budgets.max_total_tokens)},
          {"max_tool_calls", or_null(budgets.max_tool_calls)},
          {"max_context_bytes", or_null(budgets.max_context_bytes)}};
}

Json usage_json(const RunUsage& usage) {
  return {{"model_turns", usage.model_turns},
          {"input_tokens", or_null(usage.input_tokens)},
          {"output_tokens", or_null(usage.output_tokens)},
          {"total_tokens", or_null(usage.total_tokens)},
          {"responses_with_usage", usage.responses_with_usage},
          {"responses_without_usage", usage.responses_without_usage},
          {"tool_calls", usage.tool_calls},
          {"token_accounting", to_word(usage.token_accounting())}};
}

Json run_json(const Run& run) {
  return {{"id", run.id.str()},
          {"workspace_id", run.workspace_id},
          {"thread_id", or_null(run.thread_id)},
          {"trigger_message_id", or_null(run.trigger_message_id)},
          {"reply_message_id", or_null(run.reply_message_id)},
          {"agent_name", run.agent_name},
          {"agent_version", run.agent_version},
          {"model", run.model},
          {"provider", or_null(run.provider)},
          {"lifecycle", to_word(run.lifecycle)},
          {"status", legacy_status(run)},
          {"interrupted", run.interrupted},
          {"outcome", word_or_null(run.outcome)},
          {"reason_code", word_or_null(run.reason_code)},
          {"reason_detail", embedded_or_null(run.reason_detail)},
          {"outcome_text", or_null(run.outcome_text)},
          {"created_at", run.created_at},
          {"updated_at", run.updated_at},
          {"completed_at", or_null(run.completed_at)},
          {"input", run.input},
          {"file", or_null(run.file)},
          {"output", or_null(run.output)},
          {"error", or_null(run.error)},
          {"last_sequence", run.last_sequence},
          {"budgets", budgets_json(run.budgets)},
          {"usage", usage_json(run.usage)},
          {"suspended_ms", run.suspended_ms},
          {"elapsed_ms", run.elapsed_ms},
          {"execution_elapsed_ms", run.execution_elapsed_ms},
          {"root_run_id", run.lineage.root_run_id.str()},
          {"parent_run_id", or_null(run.lineage.parent_run_id)},
          {"parent_call_id", or_null(run.lineage.parent_call_id)},
          {"depth", run.lineage.depth},
          {"recovery_disposition", to_word(run.recovery_disposition)},
          {"origin_source", or_null(run.origin_source)},
          {"origin_id", or_null(run.origin_id)}};
}

Json event_json(const RunEvent& event) {
  return {{"gid", event.gid},
          {"run_id", event.run_id.str()},
          {"sequence", event.sequence},
          {"timestamp", event.timestamp},
          {"event_type", event.event_type},
          {"payload", embedded(event.payload)}};
}

Json call_json(const RunCall& call) {
  return {{"run_id", call.run_id.str()},
          {"call_id", call.call_id.str()},
          {"tool_name", call.tool_name},
          {"arguments", embedded(call.arguments)},
          {"status", to_word(call.status)},
          {"outcome_class", word_or_null(call.outcome_class)},
          {"result", embedded_or_null(call.result)},
          {"result_content", or_null(call.result_content)},
          {"error", or_null(call.error)},
          {"error_code", or_null(call.error_code)},
          {"consecutive_count", or_null(call.consecutive_count)},
          {"requested_sequence", call.requested_sequence},
          {"finished_sequence", or_null(call.finished_sequence)},
          {"started_at", or_null(call.started_at)},
          {"completed_at", or_null(call.completed_at)}};
}

Json approval_json(const RunApproval& approval) {
  Json capabilities = Json::array();
  for (const Capability capability : approval.capabilities) {
    capabilities.push_back(to_word(capability));
  }
  return {{"run_id", approval.run_id.str()},
          {"call_id", approval.call_id.str()},
          {"request_id", nullptr},
          {"tool_name", approval.tool_name},
          {"capabilities", std::move(capabilities)},
          {"step", nullptr},
          {"act", nullptr},
          {"target", nullptr},
          {"content", nullptr},
          {"requested_at", approval.requested_at},
          {"decision", word_or_null(approval.decision)},
          {"decided_at", or_null(approval.decided_at)},
          {"decided_by", or_null(approval.decided_by)},
          {"reason", or_null(approval.reason)}};
}

Json run_checkpoint_json(const RunCheckpoint& checkpoint) {
  Json document{{"run_id", checkpoint.run_id.str()},
                {"sequence", checkpoint.sequence},
                {"schema_version", checkpoint.schema_version},
                {"turn", checkpoint.turn},
                {"name", or_null(checkpoint.name)},
                {"created_at", checkpoint.created_at}};
  if (!checkpoint.state.empty()) document["state"] = embedded(checkpoint.state);
  return document;
}

Json artifact_json(const RunArtifact& artifact) {
  return {{"sequence", artifact.sequence},
          {"relative_path", artifact.relative_path},
          {"sha256", artifact.sha256},
          {"size", artifact.size}};
}

}  // namespace threadstore::cli
