#include "state/transfer/run_rows.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "state/runs/call_record.h"
#include "state/runs/event_log.h"
#include "state/runs/request_record.h"
#include "state/runs/run_checkpoints.h"
#include "state/runs/run_usage.h"
#include "state/runs/spawn_record.h"
#include "state/runs/step_record.h"
#include "state/runs/suspension.h"

namespace threadstore::state {
namespace {

/// What `Run` does not tell.
void read_hidden(db::Session& session, RunRecord& record) {
  const RunId& run = record.run.id;
  const auto step_tokens_below = session.value<std::int64_t>(
      "SELECT coalesce(sum(tree_step_tokens), 0) FROM runs WHERE parent_run_id = ?1 AND id <> ?1",
      {run});
  session.each(R"(SELECT active_since, budget_raised, tree_step_tokens - step_tokens,
                         below_model_turns, below_responses_with_usage,
                         below_responses_without_usage, below_tool_calls, below_input_tokens,
                         below_output_tokens, below_total_tokens
                  FROM runs WHERE id = ?)",
               {run}, [&](const db::Row& row) {
                 record.active_since = row.integer(0);
                 record.budget_raised = row.get<bool>(1);
                 record.removed_step_tokens =
                     std::max<std::int64_t>(0, row.integer(2) - step_tokens_below.value_or(0));
                 RunUsage& below = record.usage_below;
                 below.model_turns = row.integer(3);
                 below.responses_with_usage = row.integer(4);
                 below.responses_without_usage = row.integer(5);
                 below.tool_calls = row.integer(6);
                 if (below.responses_with_usage == 0) return;
                 below.input_tokens = row.integer(7);
                 below.output_tokens = row.integer(8);
                 below.total_tokens = row.integer(9);
               });
}

void insert_calls(db::Session& session, const RunRecord& record) {
  for (const RunCall& call : record.calls) {
    session.run(
        R"(INSERT INTO run_calls(run_id, call_id, requested_sequence, tool_name, arguments, status,
             outcome_class, result, result_content, error, error_code, repetition_key,
             consecutive_count, started_at, completed_at, finished_sequence)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?))",
        {record.run.id, call.call_id, call.requested_sequence, call.tool_name, call.arguments,
         call.status, call.outcome_class, call.result, call.result_content, call.error,
         call.error_code, call.repetition_key, call.consecutive_count, call.started_at,
         call.completed_at, call.finished_sequence});
  }
  for (const RunApproval& approval : record.approvals) {
    nlohmann::json words = nlohmann::json::array();
    for (const Capability capability : approval.capabilities) words.push_back(to_word(capability));
    session.run(R"(INSERT INTO run_approvals(run_id, call_id, capabilities, requested_sequence,
                     requested_at, decision, decided_sequence, decided_at, decided_by, reason)
                   VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?))",
                {record.run.id, approval.call_id, words.dump(), approval.requested_sequence,
                 approval.requested_at, approval.decision, approval.decided_sequence,
                 approval.decided_at, approval.decided_by, approval.reason});
  }
}

void insert_memory(db::Session& session, const RunRecord& record) {
  for (const RunSuspension& one : record.suspensions) {
    session.run(
        R"(INSERT INTO run_suspensions(run_id, suspension_sequence, outcome, reason_code,
                     prompt, assistant_message, suspended_at, continuation_input, continued_at)
                   VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?))",
        {record.run.id, one.sequence, one.outcome, one.reason_code, one.prompt,
         one.assistant_message, one.suspended_at, one.continuation_input, one.continued_at});
  }
  for (const RunCheckpoint& one : record.checkpoints) {
    session.run(R"(INSERT INTO run_checkpoints(run_id, sequence, schema_version, turn, name,
                     created_at, state) VALUES (?, ?, ?, ?, ?, ?, ?))",
                {record.run.id, one.sequence, one.schema_version, one.turn, one.name,
                 one.created_at, one.state});
  }
  for (const RunArtifact& one : record.artifacts) {
    session.run(R"(INSERT INTO run_artifacts(run_id, relative_path, sequence, sha256, size)
                   VALUES (?, ?, ?, ?, ?))",
                {record.run.id, one.relative_path, one.sequence, one.sha256, one.size});
  }
}

/// The same payload with the number that a request has in the store.
std::string with_number(const std::string& payload, const RequestNumbers& requests) {
  Payload json = Payload::parse(payload, nullptr, false);
  if (!json.is_object()) return payload;
  const auto number = json.find("request_id");
  if (number == json.end() || !number->is_number_integer()) return payload;
  const auto known = requests.find(number->get<std::int64_t>());
  if (known == requests.end()) return payload;
  *number = to_int(known->second);
  return json.dump();
}

std::int64_t tokens_of(const std::vector<RunStep>& steps) {
  std::int64_t sum = 0;
  for (const RunStep& step : steps) sum = bounded_sum(sum, step.tokens);
  return sum;
}

}  // namespace

void read_rows(db::Session& session, RunRecord& record) {
  const RunId& run = record.run.id;
  read_hidden(session, record);
  record.calls = session.all(select_calls + " ORDER BY c.requested_sequence", {run}, read_call);
  record.approvals = session.all(
      select_approvals + " WHERE a.run_id = ? ORDER BY a.requested_sequence", {run}, read_approval);
  record.suspensions =
      session.all(select_suspensions + " ORDER BY suspension_sequence", {run}, read_suspension);
  record.checkpoints =
      session.all(select_checkpoints + " ORDER BY sequence", {run}, read_checkpoint);
  record.artifacts =
      session.all(R"(SELECT sequence, relative_path, sha256, size FROM run_artifacts
                     WHERE run_id = ? ORDER BY sequence)",
                  {run}, [](const db::Row& row) {
                    return RunArtifact{row.integer(0), row.text(1), row.text(2), row.integer(3)};
                  });
  record.steps = session.all(select_steps + " ORDER BY s.step, s.attempt", {run}, read_step);
  record.requests =
      session.all(select_requests + " AND a.run_id = ?2 ORDER BY a.requested_sequence",
                  {record.run.workspace_id, run}, read_request);
  record.spawned_for = session.all(
      select_contracts + " WHERE child_run_id = ? ORDER BY parent_run_id, step, ordinal", {run},
      read_contract);
}

void insert_head(db::Session& session, const RunRecord& record,
                 const std::optional<std::string>& key) {
  const Run& run = record.run;
  session.run(
      R"(INSERT INTO runs(id, workspace_id, thread_id, trigger_message_id, reply_message_id,
           agent_name, agent_version, model, provider, lifecycle, outcome, reason_code,
           reason_detail, outcome_text, created_at, updated_at, completed_at, active_since, input,
           file, output, error, last_sequence, budget_raised, suspended_ms, artifact_count,
           root_run_id, parent_run_id, parent_call_id, depth, start_key, origin_source, origin_id)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
                 ?, ?, ?, ?, ?))",
      {run.id,
       run.workspace_id,
       run.thread_id,
       run.trigger_message_id,
       run.reply_message_id,
       run.agent_name,
       run.agent_version,
       run.model,
       run.provider,
       run.lifecycle,
       run.outcome,
       run.reason_code,
       run.reason_detail,
       run.outcome_text,
       run.created_at,
       run.updated_at,
       run.completed_at,
       record.active_since,
       run.input,
       run.file,
       run.output,
       run.error,
       run.last_sequence,
       record.budget_raised,
       run.suspended_ms,
       record.artifacts.size(),
       run.lineage.root_run_id,
       run.lineage.parent_run_id,
       run.lineage.parent_call_id,
       run.lineage.depth,
       key,
       run.origin_source,
       run.origin_id});
  store_budgets(session, run.id, run.budgets);
  store_usage_above(session, run.id, run.usage, record.usage_below);
}

RequestNumbers insert_requests(db::Session& session, const RunRecord& record) {
  RequestNumbers numbers;
  for (const DeferredApproval& one : record.requests) {
    const std::string origin = one.origin_id.value_or(std::to_string(to_int(one.request_id)));
    numbers[to_int(one.request_id)] = static_cast<RequestId>(session.insert(
        R"(INSERT INTO run_approvals(run_id, step, act, target, content, request_key,
             requested_sequence, requested_at, decision, decided_sequence, decided_at, decided_by,
             reason, origin_id)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?))",
        {record.run.id, one.step, one.act, one.target, one.content, one.key, one.requested_sequence,
         one.requested_at, one.decision, one.decided_sequence, one.decided_at, one.decided_by,
         one.reason, origin}));
  }
  return numbers;
}

void insert_events(db::Session& session, const RunId& run, const std::vector<RunEvent>& events,
                   const RequestNumbers& requests) {
  for (const RunEvent& event : events) {
    const bool numbered = !requests.empty() && event.event_type.starts_with("approval.");
    session.run(R"(INSERT INTO run_events(run_id, sequence, timestamp, event_type, payload)
                   VALUES (?, ?, ?, ?, ?))",
                {run, event.sequence, event.timestamp, event.event_type,
                 numbered ? with_number(event.payload, requests) : event.payload});
  }
}

void insert_parts(db::Session& session, const RunRecord& record) {
  const Run& run = record.run;
  insert_calls(session, record);
  insert_memory(session, record);
  for (RunStep step : record.steps) {
    step.run_id = run.id;
    insert_step_row(session, step);
  }
  const std::int64_t own = tokens_of(record.steps);
  add_step_tokens(session, run.id, run.lineage.parent_run_id, own,
                  bounded_sum(own, record.removed_step_tokens));
  for (SpawnContract contract : record.spawned_for) {
    contract.child_run_id = run.id;
    insert_contract(session, contract);
  }
}

void grow_run(db::Session& session, const RunRecord& record, const std::vector<RunEvent>& events) {
  const Run& run = record.run;
  const auto stored =
      session.value<std::size_t>("SELECT last_sequence FROM runs WHERE id = ?", {run.id});
  const std::size_t known = std::min(events.size(), stored.value_or(0));
  insert_events(session, run.id,
                {events.begin() + static_cast<std::ptrdiff_t>(known), events.end()}, {});
  session.run(R"(UPDATE runs SET
                   lifecycle = ?, outcome = ?, reason_code = ?, reason_detail = ?,
                   outcome_text = ?, updated_at = ?, completed_at = ?, active_since = ?, output = ?,
                   error = ?, last_sequence = ?, suspended_ms = ?
                 WHERE id = ?)",
              {run.lifecycle, run.outcome, run.reason_code, run.reason_detail, run.outcome_text,
               run.updated_at, run.completed_at, record.active_since, run.output, run.error,
               run.last_sequence, run.suspended_ms, run.id});
  store_budgets(session, run.id, run.budgets);
  store_own_usage(session, run.id, usage_without(run.usage, record.usage_below),
                  record.usage_below);
  session.run("DELETE FROM run_calls WHERE run_id = ?", {run.id});
  session.run("DELETE FROM run_suspensions WHERE run_id = ?", {run.id});
  session.run("DELETE FROM run_checkpoints WHERE run_id = ?", {run.id});
  insert_calls(session, record);
  insert_memory(session, record);
}

}  // namespace threadstore::state
