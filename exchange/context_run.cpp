#include "exchange/context_run.h"

#include <algorithm>

#include "exchange/json_text.h"

namespace threadstore::exchange {
namespace {

using Column = ForeignTable::Column;
using Number = std::optional<std::int64_t>;

const std::vector<Column> kRuns{{"id"},
                                {"workspace_id"},
                                {"agent_name"},
                                {"agent_version"},
                                {"model"},
                                {"status"},
                                {"lifecycle"},
                                {"outcome"},
                                {"reason_code"},
                                {"reason_detail"},
                                {"created_at"},
                                {"updated_at"},
                                {"completed_at"},
                                {"input"},
                                {"output"},
                                {"error"},
                                {"last_sequence"},
                                {"budgets", "'{}'"},
                                {"usage", "'{}'"},
                                {"suspended_ms", "0"}};
const std::vector<Column> kEvents{
    {"run_id"}, {"sequence"}, {"timestamp"}, {"event_type"}, {"payload"}};
const std::vector<Column> kCalls{{"run_id"},       {"call_id"},        {"requested_sequence"},
                                 {"tool_name"},    {"arguments"},      {"status"},
                                 {"result"},       {"error"},          {"started_at"},
                                 {"completed_at"}, {"result_content"}, {"outcome_class"},
                                 {"error_code"},   {"repetition_key"}, {"consecutive_count"}};
const std::vector<Column> kCheckpoints{{"run_id"}, {"sequence"},   {"schema_version"},
                                       {"turn"},   {"created_at"}, {"state"}};
const std::vector<Column> kSuspensions{{"run_id"},
                                       {"suspension_sequence"},
                                       {"outcome"},
                                       {"reason_code"},
                                       {"prompt"},
                                       {"assistant_message"},
                                       {"continuation_input"},
                                       {"continued_at"}};

/// A number that counts something.
std::int64_t count(JsonText object, const char* name) {
  return std::max<std::int64_t>(0, object[name].integer().value_or(0));
}

/// A budget that is set is above zero.
Number budget(JsonText object, const char* name) {
  const auto value = object[name].integer();
  return value && *value > 0 ? value : std::nullopt;
}

RunBudgets read_budgets(JsonText object) {
  return {.max_turns = budget(object, "max_turns"),
          .timeout_seconds = budget(object, "timeout_seconds"),
          .max_total_tokens = budget(object, "max_total_tokens"),
          .max_tool_calls = budget(object, "max_tool_calls"),
          .max_context_bytes = budget(object, "max_context_bytes")};
}

}  // namespace

RunUsage read_context_usage(std::string_view json) {
  const JsonText object(json);
  return {.model_turns = count(object, "model_turns"),
          .input_tokens = object["input_tokens"].integer(),
          .output_tokens = object["output_tokens"].integer(),
          .total_tokens = object["total_tokens"].integer(),
          .responses_with_usage = count(object, "responses_with_usage"),
          .responses_without_usage = count(object, "responses_without_usage"),
          .tool_calls = count(object, "tool_calls")};
}

namespace {

UnixMillis time_of(const std::vector<RunEvent>& events, std::int64_t sequence) {
  return sequence > 0 && sequence <= static_cast<std::int64_t>(events.size())
             ? events[static_cast<std::size_t>(sequence - 1)].timestamp
             : 0;
}

}  // namespace

ContextRuns::ContextRuns(db::Session& session, RunImport& job)
    : session_(session),
      job_(job),
      runs_(session, "agent_runs"),
      events_(session, "agent_events"),
      calls_(session, "tool_invocations"),
      checkpoints_(session, "agent_checkpoints"),
      suspensions_(session, "agent_run_suspensions") {}

void ContextRuns::note_unknown() {
  runs_.note_others(kRuns, job_);
  events_.note_others(kEvents, job_);
  calls_.note_others(kCalls, job_);
  checkpoints_.note_others(kCheckpoints, job_);
  suspensions_.note_others(kSuspensions, job_);
}

ContextRuns::Loaded ContextRuns::load(const std::string& id) {
  Loaded loaded;
  load_events(id, loaded.events);
  Run& run = loaded.record.run;
  load_head(id, run);
  run.last_sequence = static_cast<std::int64_t>(loaded.events.size());
  load_calls(id, loaded);
  load_checkpoints(id, loaded.record);
  load_suspensions(id, loaded);
  loaded.record.active_since = run.created_at;
  for (const RunSuspension& one : loaded.record.suspensions) {
    loaded.record.active_since = std::max(loaded.record.active_since, one.continued_at.value_or(0));
  }
  return loaded;
}

void ContextRuns::load_head(const std::string& id, Run& run) {
  const std::string where = "run " + id;
  session_.each(runs_.select(kRuns) + " WHERE id = ?", {id}, [&](const db::Row& row) {
    const auto optional = [&](int column) {
      return row.is_null(column) ? std::optional<std::string>()
                                 : std::optional(job_.text(where, row.view(column)));
    };
    run.id = RunId(id);
    run.workspace_id = job_.text(where, row.view(1));
    run.agent_name = job_.text(where, row.view(2));
    run.agent_version = job_.text(where, row.view(3));
    run.model = job_.text(where, row.view(4));
    run.created_at = row.integer(10);
    run.updated_at = row.integer(11);
    run.input = job_.text(where, row.view(13));
    run.output = optional(14);
    run.error = optional(15);
    run.budgets = read_budgets(JsonText(row.view(17)));
    run.usage = read_context_usage(row.view(18));
    run.suspended_ms = std::max<std::int64_t>(0, row.integer(19));
    load_end(row, run);
    if (run.lifecycle != RunLifecycle::active) {
      run.completed_at = row.get<Number>(12).value_or(run.updated_at);
      run.reason_detail = row.is_null(9) ? "{}" : job_.json(where, row.view(9));
    }
  });
  run.origin_source = job_.report().fingerprint;
  run.origin_id = id;
  run.lineage.root_run_id = run.id;
}

/// The first layout had a status alone.
void ContextRuns::load_end(const db::Row& row, Run& run) {
  const std::string status = row.text(5), told = row.text(6);
  auto lifecycle = from_word<RunLifecycle>(told);
  run.outcome = from_word<RunOutcome>(row.view(7));
  run.reason_code = from_word<RunReason>(row.view(8));
  if (!run.reason_code && !row.is_null(8)) {
    run.outcome_text = job_.text("run " + run.id.str(), row.view(8));
    job_.note("run " + run.id.str(), "its reason is not known; its word was kept as outcome_text");
  }
  if (!lifecycle) {
    if (status == "completed") run.reason_code = RunReason::legacy_completed;
    if (status == "cancelled") run.reason_code = RunReason::legacy_cancelled;
    if (status == "failed") run.reason_code = RunReason::legacy_failure;
    if (run.reason_code) run.outcome = outcome_of(*run.reason_code);
    if (!told.empty() || (!run.reason_code && status != "running")) {
      job_.note("run " + run.id.str(),
                "its status '" + to_valid_utf8(status) + "' and lifecycle '" + to_valid_utf8(told) +
                    "' are not known; it counts as " + (run.outcome ? "stopped" : "running"));
    }
  }
  // Lifecycle follows from the outcome: rows that contradict themselves are set right.
  run.lifecycle = run.outcome ? lifecycle_after(*run.outcome) : RunLifecycle::active;
  if (lifecycle && *lifecycle != run.lifecycle) {
    job_.note("run " + run.id.str(),
              "its lifecycle '" + told + "' does not fit its outcome, which counts");
  }
  if (run.lifecycle == RunLifecycle::active) run.reason_code.reset();
}

/// Sequences have no gap: where the source lacks an event, one of ours says so.
void ContextRuns::load_events(const std::string& id, std::vector<RunEvent>& events) {
  const std::string where = "run " + id;
  session_.each(events_.select(kEvents) + " WHERE run_id = ? ORDER BY sequence", {id},
                [&](const db::Row& row) {
                  const std::int64_t sequence = row.integer(1);
                  auto next = static_cast<std::int64_t>(events.size()) + 1;
                  if (sequence < next || sequence - next > 1'000'000) {
                    return job_.note(where, "event " + std::to_string(sequence) +
                                                " is out of order; it was left out");
                  }
                  for (; next < sequence; ++next) {
                    job_.note(where, "event " + std::to_string(next) + " is missing");
                    events.push_back({.sequence = next,
                                      .timestamp = row.integer(2),
                                      .event_type = "imported.missing",
                                      .payload = "{}"});
                  }
                  const std::string event = where + ", event " + std::to_string(sequence);
                  events.push_back({.sequence = sequence,
                                    .timestamp = row.integer(2),
                                    .event_type = job_.text(event, row.view(3)),
                                    .payload = job_.json(event, row.view(4))});
                });
}

void ContextRuns::load_calls(const std::string& id, Loaded& loaded) {
  if (!calls_.there()) return;
  session_.each(calls_.select(kCalls) + " WHERE run_id = ? ORDER BY requested_sequence", {id},
                [&](const db::Row& row) {
                  const std::string where = "run " + id + ", call " + to_valid_utf8(row.view(1));
                  const auto optional = [&](int column) {
                    return row.is_null(column) ? std::optional<std::string>()
                                               : std::optional(job_.text(where, row.view(column)));
                  };
                  const auto status = from_word<CallStatus>(row.view(5));
                  if (!status)
                    job_.note(where, "its status is not known; it counts as indeterminate");
                  RunCall call{.run_id = RunId(id),
                               .call_id = CallId(job_.text(where, row.view(1))),
                               .requested_sequence = row.integer(2),
                               .tool_name = job_.text(where, row.view(3)),
                               .arguments = job_.json(where, row.view(4)),
                               .status = status.value_or(CallStatus::indeterminate),
                               .outcome_class = from_word<CallOutcomeClass>(row.view(11)),
                               .result_content = optional(10),
                               .error = optional(7),
                               .error_code = optional(12),
                               .repetition_key = optional(13),
                               .consecutive_count = row.get<Number>(14),
                               .started_at = row.get<Number>(8),
                               .completed_at = row.get<Number>(9)};
                  if (!row.is_null(6)) call.result = job_.json(where, row.view(6));
                  loaded.record.calls.push_back(std::move(call));
                });
}

void ContextRuns::load_checkpoints(const std::string& id, RunRecord& record) {
  if (!checkpoints_.there()) return;
  session_.each(checkpoints_.select(kCheckpoints) + " WHERE run_id = ? ORDER BY sequence", {id},
                [&](const db::Row& row) {
                  const std::string where =
                      "run " + id + ", checkpoint " + std::to_string(row.integer(1));
                  record.checkpoints.push_back({.run_id = RunId(id),
                                                .sequence = row.integer(1),
                                                .schema_version = row.integer(2),
                                                .turn = row.integer(3),
                                                .created_at = row.integer(4),
                                                .state = job_.json(where, row.view(5))});
                });
}

void ContextRuns::load_suspensions(const std::string& id, Loaded& loaded) {
  if (!suspensions_.there()) return;
  session_.each(
      suspensions_.select(kSuspensions) + " WHERE run_id = ? ORDER BY suspension_sequence", {id},
      [&](const db::Row& row) {
        const std::string where = "run " + id + ", suspension " + std::to_string(row.integer(1));
        const auto outcome = from_word<RunOutcome>(row.view(2));
        const auto reason = from_word<RunReason>(row.view(3));
        if (!outcome || !reason) {
          job_.note(where, "its outcome '" + to_valid_utf8(row.view(2)) + "' or reason '" +
                               to_valid_utf8(row.view(3)) + "' is not known");
        }
        RunSuspension one{.sequence = row.integer(1),
                          .outcome = outcome.value_or(RunOutcome::blocked),
                          .reason_code = reason.value_or(RunReason::external_dependency),
                          .prompt = job_.text(where, row.view(4)),
                          .suspended_at = time_of(loaded.events, row.integer(1)),
                          .continued_at = row.get<Number>(7)};
        if (!row.is_null(5)) one.assistant_message = job_.json(where, row.view(5));
        if (!row.is_null(6)) one.continuation_input = job_.text(where, row.view(6));
        loaded.record.suspensions.push_back(std::move(one));
      });
}

}  // namespace threadstore::exchange
