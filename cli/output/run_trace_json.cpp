#include "cli/output/run_trace_json.h"

#include "cli/output/run_json.h"

namespace threadstore::cli {
namespace {

/// The members that every entry begins with.
template <class Event>
Json entry_json(const Event& event, const char* list) {
  return {{"sequence", event.sequence},
          {"at", event.at},
          {"list", list},
          {"kind", to_word(event.kind)},
          {"step", event.step}};
}

}  // namespace

Json step_json(const RunStep& step) {
  return {{"run_id", step.run_id.str()},   {"step", step.step},
          {"attempt", step.attempt},       {"committed_sequence", or_null(step.committed_sequence)},
          {"created_at", step.created_at}, {"tokens", step.tokens},
          {"decision", step.decision},     {"result", step.result},
          {"prompt", step.prompt},         {"tool_call", step.tool_call}};
}

Json request_json(const DeferredApproval& request) {
  return {{"run_id", request.run_id.str()},
          {"call_id", nullptr},
          {"request_id", to_int(request.request_id)},
          {"tool_name", nullptr},
          {"capabilities", Json::array()},
          {"step", request.step},
          {"act", request.act},
          {"target", request.target},
          {"content", or_null(request.content)},
          {"requested_at", request.requested_at},
          {"decision", request.decision ? Json(to_word(*request.decision)) : Json(nullptr)},
          {"decided_at", or_null(request.decided_at)},
          {"decided_by", or_null(request.decided_by)},
          {"reason", or_null(request.reason)}};
}

Json usage_report_json(const Run& run, const UsageReport& report) {
  Json models = Json::array();
  for (const ModelUsage& model : report.by_model) {
    models.push_back({{"provider", or_null(model.provider)},
                      {"model", model.model},
                      {"runs", model.runs},
                      {"usage", usage_json(model.usage)},
                      {"step_tokens", model.step_tokens}});
  }
  return {
      {"run_id", run.id.str()},
      {"usage", usage_json(run.usage)},
      {"budgets", budgets_json(run.budgets)},
      {"elapsed_ms", run.elapsed_ms},
      {"execution_elapsed_ms", run.execution_elapsed_ms},
      {"own", usage_json(report.own)},
      {"subtree", usage_json(report.subtree)},
      {"step_tokens", {{"own", report.own_step_tokens}, {"subtree", report.subtree_step_tokens}}},
      {"runs", report.runs},
      {"models", std::move(models)}};
}

Json audit_json(const PolicyEvent& event) {
  Json entry = entry_json(event, "policy");
  entry["act"] = event.act;
  entry["target"] = event.target;
  entry["rule"] = or_null(event.rule);
  entry["layer"] = or_null(event.layer);
  entry["decision"] = or_null(event.decision);
  entry["source"] = or_null(event.source);
  entry["performed"] = or_null(event.performed);
  return entry;
}

Json audit_json(const DelegationEvent& event) {
  Json entry = entry_json(event, "delegation");
  entry["child_run_id"] = or_null(event.child_run_id);
  entry["call_id"] = or_null(event.call_id);
  entry["detail"] = or_null(event.detail);
  entry["tokens"] = or_null(event.tokens);
  entry["remaining"] = or_null(event.remaining);
  return entry;
}

Json audit_json(const SandboxEvent& event) {
  Json entry = entry_json(event, "sandbox");
  entry["backend"] = or_null(event.backend);
  entry["detail"] = or_null(event.detail);
  return entry;
}

Json audit_json(const StepEvent& event) {
  Json entry = entry_json(event, "steps");
  entry["detail"] = or_null(event.detail);
  return entry;
}

}  // namespace threadstore::cli
