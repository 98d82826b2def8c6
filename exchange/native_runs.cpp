#include "exchange/native_runs.h"

#include "exchange/json_object.h"
#include "exchange/native_format.h"
#include "threadstore/transfer.h"

namespace threadstore::exchange {
namespace {

constexpr std::size_t kEventsAtOnce = 500;

class RunWriter {
 public:
  RunWriter(ExportSource& source, std::ostream& out) : source_(source), out_(out) {}

  void write(const RunPlace& place) {
    const RunRecord record = Transfer(source_.store()).run(place.id);
    head(record);
    for (const RunCall& one : record.calls) call(one);
    for (const RunApproval& one : record.approvals) approval(one);
    for (const RunSuspension& one : record.suspensions) suspension(one);
    for (const RunCheckpoint& one : record.checkpoints) checkpoint(one);
    for (const RunArtifact& one : record.artifacts) artifact(one);
    for (const RunStep& one : record.steps) step(one);
    for (const DeferredApproval& one : record.requests) request(one);
    for (const SpawnContract& one : record.spawned_for) spawn(one);
    events(place, record.run.last_sequence);
    put(line("run_end").text("run_id", std::string_view(record.run.id.str())));
  }

 private:
  static JsonObject line(std::string_view type) {
    return std::move(JsonObject().text("type", type));
  }
  void put(const JsonObject& object) { out_ << object.str() << '\n'; }

  template <class Enum>
  static void word(JsonObject& object, std::string_view name, const std::optional<Enum>& value) {
    if (value) {
      object.text(name, to_word(*value));
    } else {
      object.null(name);
    }
  }

  void json(JsonObject& object, const std::string& name, const std::optional<std::string>& value) {
    if (value) {
      add_json(object, name, source_.json(*value));
    } else {
      object.null(name);
    }
  }

  void head(const RunRecord& record) {
    const Run& run = record.run;
    JsonObject object = line("run");
    object.text("id", std::string_view(run.id.str()))
        .text("workspace_id", std::string_view(source_.text(run.workspace_id)))
        .number("trigger_message_id", run.trigger_message_id)
        .number("reply_message_id", run.reply_message_id)
        .text("agent_name", std::string_view(run.agent_name))
        .text("agent_version", std::string_view(run.agent_version))
        .text("model", std::string_view(run.model))
        .text("provider", run.provider)
        .text("lifecycle", to_word(run.lifecycle));
    word(object, "outcome", run.outcome);
    word(object, "reason_code", run.reason_code);
    json(object, "reason_detail", run.reason_detail);
    object.text("outcome_text", source_.text(run.outcome_text))
        .number("created_at", run.created_at)
        .number("updated_at", run.updated_at)
        .number("completed_at", run.completed_at)
        .number("active_since", record.active_since)
        .text("input", std::string_view(source_.text(run.input)))
        .text("file", source_.text(run.file))
        .text("output", source_.text(run.output))
        .text("error", source_.text(run.error))
        .number("last_sequence", run.last_sequence)
        .raw("budgets", budgets(record))
        .raw("usage", usage(run.usage))
        .raw("usage_below", usage(record.usage_below))
        .number("removed_step_tokens", record.removed_step_tokens)
        .number("suspended_ms", run.suspended_ms)
        .text("root_run_id", std::string_view(run.lineage.root_run_id.str()))
        .id("parent_run_id", run.lineage.parent_run_id)
        .id("parent_call_id", run.lineage.parent_call_id)
        .number("depth", run.lineage.depth)
        .text("key", run.key)
        .text("origin_source", source_.text(run.origin_source))
        .text("origin_id", run.origin_id);
    put(object);
  }

  static std::string budgets(const RunRecord& record) {
    const RunBudgets& budgets = record.run.budgets;
    return JsonObject()
        .number("max_turns", budgets.max_turns)
        .number("timeout_seconds", budgets.timeout_seconds)
        .number("max_total_tokens", budgets.max_total_tokens)
        .number("max_tool_calls", budgets.max_tool_calls)
        .number("max_context_bytes", budgets.max_context_bytes)
        .boolean("raised", record.budget_raised)
        .str();
  }

  static std::string usage(const RunUsage& usage) {
    return JsonObject()
        .number("model_turns", usage.model_turns)
        .number("input_tokens", usage.input_tokens)
        .number("output_tokens", usage.output_tokens)
        .number("total_tokens", usage.total_tokens)
        .number("responses_with_usage", usage.responses_with_usage)
        .number("responses_without_usage", usage.responses_without_usage)
        .number("tool_calls", usage.tool_calls)
        .str();
  }

  void call(const RunCall& call) {
    JsonObject object = line("run_call");
    object.text("call_id", std::string_view(call.call_id.str()))
        .number("requested_sequence", call.requested_sequence)
        .text("tool_name", std::string_view(call.tool_name));
    json(object, "arguments", call.arguments);
    object.text("status", to_word(call.status));
    word(object, "outcome_class", call.outcome_class);
    json(object, "result", call.result);
    object.text("result_content", source_.text(call.result_content))
        .text("error", source_.text(call.error))
        .text("error_code", call.error_code)
        .text("repetition_key", source_.text(call.repetition_key))
        .number("consecutive_count", call.consecutive_count)
        .number("started_at", call.started_at)
        .number("completed_at", call.completed_at)
        .number("finished_sequence", call.finished_sequence);
    put(object);
  }

  void approval(const RunApproval& approval) {
    std::string words = "[";
    for (const Capability capability : approval.capabilities) {
      if (words.size() > 1) words += ',';
      append_json_string(words, to_word(capability));
    }
    JsonObject object = line("run_approval");
    object.text("call_id", std::string_view(approval.call_id.str()))
        .raw("capabilities", words + "]")
        .number("requested_sequence", approval.requested_sequence)
        .number("requested_at", approval.requested_at);
    decided(object, approval);
    put(object);
  }

  void suspension(const RunSuspension& suspension) {
    JsonObject object = line("run_suspension");
    object.number("sequence", suspension.sequence)
        .text("outcome", to_word(suspension.outcome))
        .text("reason_code", to_word(suspension.reason_code))
        .text("prompt", std::string_view(source_.text(suspension.prompt)));
    json(object, "assistant_message", suspension.assistant_message);
    object.number("suspended_at", suspension.suspended_at)
        .text("continuation_input", source_.text(suspension.continuation_input))
        .number("continued_at", suspension.continued_at);
    put(object);
  }

  void checkpoint(const RunCheckpoint& checkpoint) {
    JsonObject object = line("run_checkpoint");
    object.number("sequence", checkpoint.sequence)
        .number("schema_version", checkpoint.schema_version)
        .number("turn", checkpoint.turn)
        .text("name", checkpoint.name)
        .number("created_at", checkpoint.created_at);
    add_json(object, "state", source_.json(checkpoint.state));
    put(object);
  }

  void artifact(const RunArtifact& artifact) {
    put(line("run_artifact")
            .number("sequence", artifact.sequence)
            .text("relative_path", std::string_view(source_.text(artifact.relative_path)))
            .text("sha256", std::string_view(artifact.sha256))
            .number("size", artifact.size));
  }

  void step(const RunStep& step) {
    put(line("run_step")
            .number("step", step.step)
            .number("attempt", step.attempt)
            .text("decision", std::string_view(source_.text(step.decision)))
            .text("result", std::string_view(source_.text(step.result)))
            .text("prompt", std::string_view(source_.text(step.prompt)))
            .text("tool_call", std::string_view(source_.text(step.tool_call)))
            .number("tokens", step.tokens)
            .number("created_at", step.created_at)
            .number("committed_sequence", step.committed_sequence));
  }

  void request(const DeferredApproval& request) {
    JsonObject object = line("run_request");
    object.number("request_id", to_int(request.request_id))
        .number("step", request.step)
        .text("act", std::string_view(request.act))
        .text("target", std::string_view(source_.text(request.target)))
        .text("content", source_.text(request.content))
        .text("key", request.key)
        .number("requested_sequence", request.requested_sequence)
        .number("requested_at", request.requested_at);
    decided(object, request);
    put(object.text("origin_id", request.origin_id));
  }

  /// What was decided of an approval of either kind.
  template <class Approval>
  void decided(JsonObject& object, const Approval& approval) {
    word(object, "decision", approval.decision);
    object.number("decided_sequence", approval.decided_sequence)
        .number("decided_at", approval.decided_at)
        .text("decided_by", source_.text(approval.decided_by))
        .text("reason", source_.text(approval.reason));
  }

  void spawn(const SpawnContract& contract) {
    JsonObject object = line("run_spawn");
    object.text("parent_run_id", std::string_view(contract.parent_run_id.str()))
        .number("step", contract.step)
        .number("ordinal", contract.ordinal)
        .text("goal", std::string_view(source_.text(contract.goal)))
        .text("verify_file", std::string_view(source_.text(contract.verify_file)))
        .text("needle", std::string_view(source_.text(contract.needle)))
        .number("max_steps", contract.max_steps);
    add_json(object, "deny_write", source_.json(contract.deny_write));
    put(object.number("created_at", contract.created_at));
  }

  /// Up to the sequence that the record told: what is logged meanwhile is not part of it.
  void events(const RunPlace& place, std::int64_t last) {
    const RunLog log = source_.store().runs(place.workspace_id).log();
    std::int64_t after = 0;
    while (after < last) {
      const auto page = log.list(place.id, after, kEventsAtOnce);
      if (page.empty()) return;
      for (const RunEvent& event : page) {
        if (event.sequence > last) return;
        JsonObject object = line("run_event");
        object.number("sequence", event.sequence)
            .number("timestamp", event.timestamp)
            .text("event_type", std::string_view(event.event_type));
        add_json(object, "payload", source_.json(event.payload));
        put(object);
      }
      after = page.back().sequence;
    }
  }

  ExportSource& source_;
  std::ostream& out_;
};

}  // namespace

void write_runs(ExportSource& source, std::ostream& out) {
  RunWriter writer(source, out);
  for (const RunPlace& place : Transfer(source.store()).runs_of(source.thread().id)) {
    writer.write(place);
  }
}

}  // namespace threadstore::exchange
