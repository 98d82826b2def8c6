#include "state/runs/run_removal.h"

#include "state/leases/lease_token.h"

namespace threadstore::state {
namespace {

/// Takes some rows of what may be large; false when nothing large is left.
bool remove_some(db::Session& session, const RunId& run) {
  const std::int64_t removed =
      session.run(R"(DELETE FROM run_events WHERE gid IN
                       (SELECT gid FROM run_events WHERE run_id = ? LIMIT 200))",
                  {run}) +
      session.run(R"(DELETE FROM run_calls WHERE run_id = ?1 AND call_id IN
                       (SELECT call_id FROM run_calls WHERE run_id = ?1 LIMIT 20))",
                  {run}) +
      session.run(R"(DELETE FROM run_steps WHERE run_id = ?1 AND (step, attempt) IN
                       (SELECT step, attempt FROM run_steps WHERE run_id = ?1 LIMIT 20))",
                  {run}) +
      session.run(R"(DELETE FROM run_checkpoints WHERE run_id = ?1 AND sequence IN
                       (SELECT sequence FROM run_checkpoints WHERE run_id = ?1 LIMIT 2))",
                  {run});
  return removed > 0;
}

}  // namespace

std::int64_t RunsOfThreads::count(db::Session& session, const ThreadId& thread) const {
  return session.value<std::int64_t>("SELECT count(*) FROM runs WHERE thread_id = ?", {thread})
      .value_or(0);
}

bool RunsOfThreads::remove_batch(db::Session& session, const ThreadId& thread) const {
  const auto run = session.value<RunId>(
      "SELECT id FROM runs WHERE thread_id = ? ORDER BY depth DESC LIMIT 1", {thread});
  if (!run) return false;
  if (!remove_some(session, *run)) {
    session.run("DELETE FROM runs WHERE id = ?", {*run});
    drop_lease(session, LeaseKind::run, run->str());
  }
  return true;
}

}  // namespace threadstore::state
