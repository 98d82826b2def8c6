#include "state/runs/create.h"

#include <nlohmann/json.hpp>

#include "base/ids.h"
#include "state/runs/event_log.h"
#include "state/runs/run_usage.h"
#include "state/threads/message_key.h"
#include "state/threads/thread_record.h"
#include "threadstore/error.h"
#include "threadstore/runs.h"

namespace threadstore {

namespace state {
namespace {

/// The tool whose started call makes a child run.
constexpr const char* kDelegatingTool = "agent.invoke";
constexpr std::int64_t kDeepest = 64;

/// The run that the key made, when it was asked for the same then.
std::optional<RunId> find_replay(db::Session& session, const RunScope& scope, const NewRun& run,
                                 const std::optional<ThreadId>& thread, const RunOrigin& origin) {
  if (!run.key) return std::nullopt;
  bool same = false;
  auto id = session.one(
      R"(SELECT id, agent_name, agent_version, model, input, thread_id, parent_run_id, parent_call_id
         FROM runs WHERE workspace_id = ? AND start_key = ?)",
      {scope.workspace, *run.key}, [&](const db::Row& row) {
        same = row.view(1) == run.agent_name && row.view(2) == run.agent_version &&
               row.view(3) == run.model && row.view(4) == run.input &&
               row.get<std::optional<ThreadId>>(5) == thread &&
               row.is_null(6) != origin.parent.has_value() &&
               (!origin.parent || row.view(6) == origin.parent->id.str()) &&
               row.get<std::optional<CallId>>(7) == origin.parent_call;
        return row.get<RunId>(0);
      });
  if (!id || same) return id;
  throw Error(ErrorCode::conflict,
              "the key '" + *run.key + "' was used for another run, " + id->str() +
                  "; use a new key for a new run",
              {{"run_id", id->str()}, {"key", *run.key}});
}

void append_first_event(db::Session& session, const RunScope& scope, const NewRun& run,
                        const RunId& id, const RunLineage& lineage, UnixMillis now) {
  Payload payload{
      {"agent", run.agent_name}, {"model", run.model}, {"workspace_id", scope.workspace}};
  if (lineage.parent_run_id) {
    payload["parent_run_id"] = lineage.parent_run_id->str();
    payload["root_run_id"] = lineage.root_run_id.str();
    payload["depth"] = lineage.depth;
  }
  payload["budgets"] = budgets_json(run.budgets);
  if (run.provider) payload["provider"] = *run.provider;
  if (run.file) payload["file"] = *run.file;
  append_event(session, id, lineage.parent_run_id ? "run.created" : "run.started", payload, now);
}

void require_started_call(db::Session& session, const RunId& parent, const CallId& call) {
  const bool started = session.exists(R"(SELECT 1 FROM run_calls WHERE run_id = ? AND call_id = ?
                                           AND tool_name = ? AND status = 'started')",
                                      {parent, call, kDelegatingTool});
  if (started) return;
  throw_run_conflict("make a child of", parent,
                     "it has no started call " + call.str() + " of the tool " + kDelegatingTool);
}

void refuse_second_child(db::Session& session, const RunId& parent, const CallId& call) {
  const auto child = session.value<RunId>(
      "SELECT id FROM runs WHERE parent_run_id = ? AND parent_call_id = ?", {parent, call});
  if (!child) return;
  throw Error(ErrorCode::conflict,
              "cannot make a child of run " + parent.str() + ": call " + call.str() +
                  " has one already, " + child->str(),
              {{"run_id", parent.str()}, {"child_run_id", child->str()}});
}

/// Tells the parent of the run that is being made.
void append_delegation(db::Session& session, const RunOrigin& origin, const RunId& child,
                       UnixMillis now) {
  if (!origin.parent_call && !origin.place) return;
  Payload payload = Payload::object();
  if (origin.parent_call) payload["call_id"] = origin.parent_call->str();
  if (origin.place) payload = {{"step", origin.place->step}, {"ordinal", origin.place->ordinal}};
  payload["child_run_id"] = child.str();
  if (origin.place) payload["detail"] = origin.place->goal;
  append_event(session, origin.parent->id, "delegation.started", payload, now);
}

}  // namespace

void check_max_depth(std::int64_t max_depth) {
  if (max_depth >= 1 && max_depth <= kDeepest) return;
  throw Error(ErrorCode::invalid_argument,
              "the depth of a child run is limited to 1 to 64, not " + std::to_string(max_depth));
}

void refuse_deeper(const RunHead& parent, std::int64_t max_depth) {
  if (parent.lineage.depth < max_depth) return;
  throw_run_conflict("make a child of", parent.id,
                     "it is at depth " + std::to_string(parent.lineage.depth) + ", and " +
                         std::to_string(max_depth) + " is the deepest");
}

void check_new_run(const NewRun& run, std::size_t most) {
  check_words(run.agent_name, "the agent's name", 1024);
  check_words(run.agent_version, "the agent's version", 1024);
  check_words(run.model, "the model", 1024);
  check_text_size(run.input, "the input", most);
  check_budgets(run.budgets);
  if (run.key) check_key(*run.key);
  if (run.provider) check_words(*run.provider, "the provider", 1024);
  if (run.file) check_text_size(*run.file, "the file", 4096);
}

RunId insert_run(db::Session& session, const RunScope& scope, const NewRun& run,
                 const RunOrigin& origin) {
  std::optional<ThreadId> thread = run.thread_id;
  if (!thread && origin.parent) thread = origin.parent->thread_id;
  if (const auto known = find_replay(session, scope, run, thread, origin)) return *known;
  if (thread) require_thread(session, *thread);
  if (origin.parent_call) {
    refuse_second_child(session, origin.parent.value().id, *origin.parent_call);
  }
  const UnixMillis now = origin.at.value_or(scope.now());
  RunId id = origin.id ? *origin.id : RunId(base::make_uuid_v7(now));
  RunLineage lineage{.root_run_id = id};
  if (origin.parent) {
    lineage = {.root_run_id = origin.parent->lineage.root_run_id,
               .parent_run_id = origin.parent->id,
               .parent_call_id = origin.parent_call,
               .depth = origin.parent->lineage.depth + 1};
  }
  session.run(
      R"(INSERT INTO runs(id, workspace_id, thread_id, trigger_message_id, agent_name,
                          agent_version, model, lifecycle, created_at, updated_at, active_since,
                          input, root_run_id, parent_run_id, parent_call_id, depth, start_key,
                          provider, file)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'active', ?8, ?8, ?8, ?9, ?10, ?11, ?12, ?13, ?14,
                 ?15, ?16))",
      {id, scope.workspace, thread, origin.trigger, run.agent_name, run.agent_version, run.model,
       now, run.input, lineage.root_run_id, lineage.parent_run_id, lineage.parent_call_id,
       lineage.depth, run.key, run.provider, run.file});
  store_budgets(session, id, run.budgets);
  append_delegation(session, origin, id, now);
  append_first_event(session, scope, run, id, lineage, now);
  return id;
}

}  // namespace state

Run Runs::create(const NewRun& run) {
  state::check_new_run(run, scope_->most());
  return scope_->write([&](db::Session& session) {
    return state::get_run(session, *scope_, state::insert_run(session, *scope_, run, {}));
  });
}

Run Runs::create_child(const NewChildRun& child) {
  state::check_new_run(child.run, scope_->most());
  state::check_max_depth(child.max_depth);
  return scope_->write([&](db::Session& session) {
    const state::RunHead parent =
        state::require_active(session, *scope_, child.parent, "make a child of");
    state::require_started_call(session, child.parent, child.call);
    state::refuse_deeper(parent, child.max_depth);
    const RunId id = state::insert_run(session, *scope_, child.run,
                                       {.parent = parent, .parent_call = child.call});
    return state::get_run(session, *scope_, id);
  });
}

}  // namespace threadstore
