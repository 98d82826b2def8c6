#include "state/runs/run_record.h"
#include "state/runs/working_state.h"
#include "state/threads/thread_record.h"
#include "state/transfer/run_check.h"
#include "state/transfer/run_rows.h"
#include "threadstore/error.h"
#include "threadstore/transfer.h"

namespace threadstore {
namespace {

using state::RunScope;

void require_there(db::Session& session, const RunId& run, const RunId& above) {
  if (session.exists("SELECT 1 FROM runs WHERE id = ?", {above})) return;
  throw Error(ErrorCode::not_found, "cannot store run " + run.str() + ": the run above it, " +
                                        above.str() + ", is not in the store");
}

bool is_there(db::Session& session, const Run& run) {
  if (session.exists("SELECT 1 FROM runs WHERE id = ?", {run.id})) return true;
  return run.origin_source && run.origin_id &&
         session.exists(
             "SELECT 1 FROM runs WHERE workspace_id = ? AND origin_source = ? AND origin_id = ?",
             {run.workspace_id, *run.origin_source, *run.origin_id});
}

}  // namespace

Transfer::Transfer(const StateStore& store) : context_(store.context_) {}

std::vector<RunWorkspace> Transfer::run_workspaces() const {
  return context_->read([](db::Session& session) {
    return session.all(std::string("SELECT r.workspace_id, count(*) AS runs FROM runs AS r WHERE") +
                           state::visible_run +
                           " GROUP BY r.workspace_id ORDER BY runs DESC, r.workspace_id",
                       {}, [](const db::Row& row) {
                         return RunWorkspace{row.text(0), row.integer(1)};
                       });
  });
}

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
    state::read_rows(session, record);
    return record;
  });
}

bool Transfer::put_run(const RunRecord& record, const std::vector<RunEvent>& events) {
  state::check_run_record(record, events);
  const Run& run = record.run;
  return context_->write([&](db::Session& session) {
    if (is_there(session, run)) return false;
    if (run.thread_id) state::require_thread(session, *run.thread_id);
    if (run.lineage.parent_run_id) require_there(session, run.id, *run.lineage.parent_run_id);
    for (const SpawnContract& contract : record.spawned_for) {
      require_there(session, run.id, contract.parent_run_id);
    }
    std::optional<std::string> key = run.key;
    if (key && session.exists("SELECT 1 FROM runs WHERE workspace_id = ? AND start_key = ?",
                              {run.workspace_id, *key})) {
      key.reset();
    }
    state::insert_head(session, record, key);
    state::insert_events(session, run.id, events, state::insert_requests(session, record));
    state::insert_parts(session, record);
    const RunScope scope{.context = context_, .workspace = run.workspace_id};
    state::rebuild_working_state(session, state::require_run(session, scope, run.id),
                                 run.updated_at);
    return true;
  });
}

}  // namespace threadstore
