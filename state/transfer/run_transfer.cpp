#include <nlohmann/json.hpp>

#include "state/runs/call_record.h"
#include "state/runs/run_checkpoints.h"
#include "state/runs/run_record.h"
#include "state/runs/suspension.h"
#include "state/runs/working_state.h"
#include "state/threads/thread_record.h"
#include "state/transfer/run_check.h"
#include "threadstore/error.h"
#include "threadstore/transfer.h"

namespace threadstore {
namespace {

using state::RunScope;

/// What `Run` does not tell.
void read_hidden(db::Session& session, RunRecord& record) {
  session.each("SELECT outcome_text, active_since, budget_raised FROM runs WHERE id = ?",
               {record.run.id}, [&](const db::Row& row) {
                 record.outcome_text = row.get<std::optional<std::string>>(0);
                 record.active_since = row.integer(1);
                 record.budget_raised = row.get<bool>(2);
               });
}

void insert_head(db::Session& session, const RunRecord& record, std::optional<std::string> key) {
  const Run& run = record.run;
  session.run(
      R"(INSERT INTO runs(id, workspace_id, thread_id, trigger_message_id, reply_message_id,
           agent_name, agent_version, model, lifecycle, outcome, reason_code, reason_detail,
           outcome_text, created_at, updated_at, completed_at, active_since, input, output, error,
           last_sequence, max_turns, timeout_seconds, max_total_tokens, max_tool_calls,
           max_context_bytes, budget_raised, model_turns, input_tokens, output_tokens,
           total_tokens, responses_with_usage, responses_without_usage, tool_calls, suspended_ms,
           artifact_count, root_run_id, parent_run_id, parent_call_id, depth, start_key, origin_id)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
                 ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?))",
      {run.id,
       run.workspace_id,
       run.thread_id,
       run.trigger_message_id,
       run.reply_message_id,
       run.agent_name,
       run.agent_version,
       run.model,
       run.lifecycle,
       run.outcome,
       run.reason_code,
       run.reason_detail,
       record.outcome_text,
       run.created_at,
       run.updated_at,
       run.completed_at,
       record.active_since,
       run.input,
       run.output,
       run.error,
       run.last_sequence,
       run.budgets.max_turns,
       run.budgets.timeout_seconds,
       run.budgets.max_total_tokens,
       run.budgets.max_tool_calls,
       run.budgets.max_context_bytes,
       record.budget_raised,
       run.usage.model_turns,
       run.usage.input_tokens,
       run.usage.output_tokens,
       run.usage.total_tokens,
       run.usage.responses_with_usage,
       run.usage.responses_without_usage,
       run.usage.tool_calls,
       run.suspended_ms,
       record.artifacts.size(),
       run.lineage.root_run_id,
       run.lineage.parent_run_id,
       run.lineage.parent_call_id,
       run.lineage.depth,
       std::move(key),
       run.origin_id});
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

void insert_events(db::Session& session, const RunId& run, const std::vector<RunEvent>& events) {
  for (const RunEvent& event : events) {
    session.run(R"(INSERT INTO run_events(run_id, sequence, timestamp, event_type, payload)
                   VALUES (?, ?, ?, ?, ?))",
                {run, event.sequence, event.timestamp, event.event_type, event.payload});
  }
}

}  // namespace

Transfer::Transfer(const StateStore& store) : context_(store.context_) {}

std::vector<RunPlace> Transfer::runs_of(const ThreadId& thread) const {
  return context_->read([&](db::Session& session) {
    state::require_thread(session, thread);
    return session.all(
        "SELECT id, workspace_id FROM runs WHERE thread_id = ? ORDER BY depth, created_at, id",
        {thread}, [](const db::Row& row) {
          return RunPlace{row.get<RunId>(0), row.text(1)};
        });
  });
}

RunRecord Transfer::run(const RunId& run) const {
  return context_->read([&](db::Session& session) {
    RunScope scope{
        .context = context_,
        .workspace = session.value<std::string>("SELECT workspace_id FROM runs WHERE id = ?", {run})
                         .value_or("any workspace")};
    RunRecord record{.run = state::get_run(session, scope, run)};
    read_hidden(session, record);
    record.calls = session.all(state::select_calls + " ORDER BY c.requested_sequence", {run},
                               state::read_call);
    record.approvals =
        session.all(state::select_approvals + " WHERE a.run_id = ? ORDER BY a.requested_sequence",
                    {run}, state::read_approval);
    record.suspensions = session.all(state::select_suspensions + " ORDER BY suspension_sequence",
                                     {run}, state::read_suspension);
    record.checkpoints = session.all(state::select_checkpoints + " ORDER BY sequence", {run},
                                     state::read_checkpoint);
    record.artifacts =
        session.all(R"(SELECT sequence, relative_path, sha256, size FROM run_artifacts
                       WHERE run_id = ? ORDER BY sequence)",
                    {run}, [](const db::Row& row) {
                      return RunArtifact{row.integer(0), row.text(1), row.text(2), row.integer(3)};
                    });
    return record;
  });
}

bool Transfer::put_run(const RunRecord& record, const std::vector<RunEvent>& events) {
  state::check_run_record(record, events);
  const Run& run = record.run;
  return context_->write([&](db::Session& session) {
    if (session.exists("SELECT 1 FROM runs WHERE id = ?", {run.id})) return false;
    if (run.thread_id) state::require_thread(session, *run.thread_id);
    const auto& parent = run.lineage.parent_run_id;
    if (parent && !session.exists("SELECT 1 FROM runs WHERE id = ?", {*parent})) {
      throw Error(ErrorCode::not_found, "cannot store run " + run.id.str() +
                                            ": the run above it, " + parent->str() +
                                            ", is not in the store");
    }
    std::optional<std::string> key = run.key;
    if (key && session.exists("SELECT 1 FROM runs WHERE workspace_id = ? AND start_key = ?",
                              {run.workspace_id, *key})) {
      key.reset();
    }
    insert_head(session, record, std::move(key));
    insert_events(session, run.id, events);
    insert_calls(session, record);
    insert_memory(session, record);
    const RunScope scope{.context = context_, .workspace = run.workspace_id};
    state::rebuild_working_state(session, state::require_run(session, scope, run.id),
                                 run.updated_at);
    return true;
  });
}

}  // namespace threadstore
