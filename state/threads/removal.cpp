#include "state/threads/removal.h"

#include "base/file_lock.h"
#include "base/log.h"
#include "state/leases/lease_token.h"
#include "state/threads/index_queue.h"
#include "state/threads/message_reclaimer.h"
#include "state/threads/view.h"
#include "threadstore/error.h"
#include "threadstore/messages.h"

namespace threadstore {

namespace state {
namespace {

/// Held while rows are taken away, so that openers can tell a living remover from a dead one.
std::optional<base::FileLock::Guard> mark_alive(const StoreContext& context) {
  if (context.database->mode() == db::Mode::memory) return std::nullopt;
  std::filesystem::path file = context.database->file();
  file += ".removal";
  return base::FileLock::at(file).try_acquire();
}

/// Without its row another process has finished it, and the thread may be a new one of that id.
bool removal_is_pending(db::Session& session, const Removal& removal) {
  const auto pending = session.value<MessageId>(
      "SELECT up_to_id FROM thread_removals WHERE thread_id = ? AND kind = ?",
      {removal.thread, removal.whole_thread ? "remove" : "clear"});
  return pending && *pending <= removal.up_to;
}

/// The last commit: nothing of it is left. False when messages came back meanwhile, handed over by
/// another removal.
bool finish(db::Session& session, const Removal& removal) {
  if (!removal_is_pending(session, removal)) return true;
  if (session.exists("SELECT 1 FROM messages WHERE thread_id = ? AND id <= ? LIMIT 1",
                     {removal.thread, removal.up_to})) {
    return false;
  }
  session.run("DELETE FROM thread_removals WHERE thread_id = ?", {removal.thread});
  if (removal.whole_thread) session.run("DELETE FROM threads WHERE id = ?", {removal.thread});
  return true;
}

bool forget_in_search(const StoreContext& context) {
  return !context.forget_in_search || context.forget_in_search();
}

/// After somebody's transaction, which has already succeeded.
void scrub_quietly(db::Database& database, const std::function<bool()>& forget) noexcept {
  try {
    if (forget) forget();
    database.scrub_wal();
  } catch (const Error& error) {
    base::log_warn("deleted text stays in the WAL for now: " + std::string(error.what()));
  }
}

/// False when deleted text stays in the search index.
bool reclaim_rows(StoreContext& context, const Removal& removal, const Progress& progress) {
  const bool nested = context.database->in_transaction();
  const std::int64_t total = context.read([&](db::Session& session) {
    return session
        .value<std::int64_t>("SELECT count(*) FROM messages WHERE thread_id = ? AND id <= ?",
                             {removal.thread, removal.up_to})
        .value_or(0);
  });
  while (removal.whole_thread && context.runs && context.write([&](db::Session& session) {
    return removal_is_pending(session, removal) &&
           context.runs->remove_batch(session, removal.thread);
  })) {
  }
  std::int64_t done = 0;
  bool forgotten = true;
  for (bool finished = false; !finished;) {
    MessageReclaimer reclaimer(removal);
    while (!reclaimer.done()) {
      done += context.write([&](db::Session& session) { return reclaimer.settle_batch(session); });
      if (progress && !reclaimer.done()) progress(std::min(done, total), total);
    }
    // Before the removal is over: who dies here leaves this to the next opener, too.
    if (!nested) forgotten = forget_in_search(context);
    finished = context.write([&](db::Session& session) { return finish(session, removal); });
  }
  return forgotten;
}

}  // namespace

void hide(db::Session& session, const Removal& removal) {
  session.run(R"sql(
      INSERT INTO thread_removals(thread_id, kind, up_to_id) VALUES (?, ?, ?)
      ON CONFLICT(thread_id) DO UPDATE SET kind = excluded.kind, up_to_id = excluded.up_to_id)sql",
              {removal.thread, removal.whole_thread ? "remove" : "clear", removal.up_to});
  session.run("UPDATE threads SET current_leaf_id = NULL WHERE id = ?", {removal.thread});
  session.run("UPDATE thread_forks SET message_id = NULL WHERE thread_id = ?", {removal.thread});
}

bool reclaim(StoreContext& context, const Removal& removal, const Progress& progress) {
  if (context.database->in_transaction()) {
    reclaim_rows(context, removal, progress);
    context.database->after_commit(
        [database = context.database, forget = context.forget_in_search] {
          scrub_quietly(*database, forget);
        });
    return false;
  }
  try {
    const auto alive = mark_alive(context);
    const bool forgotten = reclaim_rows(context, removal, progress);
    return context.database->scrub_wal() && forgotten;
  } catch (const Error& error) {
    throw error.after_commit();  // hidden it is; whoever opens the store next takes the rest away
  }
}

std::vector<Removal> unfinished_removals(db::Session& session) {
  return session.all("SELECT thread_id, kind, up_to_id FROM thread_removals", {},
                     [](const db::Row& row) {
                       return Removal{.thread = row.get<ThreadId>(0),
                                      .whole_thread = row.view(1) != "clear",
                                      .up_to = row.get<MessageId>(2)};
                     });
}

void continue_removals(StoreContext& context) {
  const auto removals = context.read(unfinished_removals);
  if (removals.empty()) return;
  const auto alive = mark_alive(context);
  if (!alive) return;
  for (const Removal& removal : removals) reclaim_rows(context, removal, {});
  context.database->scrub_wal();
}

}  // namespace state

RemovedThread Threads::remove(const ThreadId& id, const Progress& progress) {
  const auto deadline = base::Deadline::after(context_->deadline);
  const state::Removal removal{.thread = id, .up_to = MessageId{state::every_id}};
  RemovedThread removed;
  context_->write([&](db::Session& session) {
    const auto view = state::find_view(session, id);
    removed.existed = view.has_value();
    if (!view) return;
    removed.messages =
        session
            .value<std::int64_t>("SELECT count(*) FROM messages WHERE thread_id = ? AND id > ?",
                                 {id, view->hidden_up_to})
            .value_or(0);
    if (context_->runs) removed.runs = context_->runs->count(session, id);
    state::hide(session, removal);
    state::drop_lease(session, LeaseKind::thread, id.str());
    state::queue_index_line(session, id);
  });
  if (!removed.existed) return removed;
  removed.index_pending = state::index_stays_behind(context_, deadline);
  removed.text_may_linger = !state::reclaim(*context_, removal, progress);
  return removed;
}

ClearedThread Messages::clear(const ThreadId& thread, const Progress& progress) {
  const state::ViewExtent before = state::extent_of(*context_, thread);
  state::Removal removal{.thread = thread, .whole_thread = false};
  ClearedThread cleared;
  context_->write([&](db::Session& session) {
    state::ViewExtent extent = before;
    extent.view = state::open_view(session, thread);
    if (extent.view.fork_point != before.view.fork_point) extent.path.reset();  // just cleared
    extent.floor = std::max(extent.floor, extent.view.hidden_up_to);
    cleared.deleted = state::count_shown(session, extent);
    // Higher ids than any so far are given out from now on: those are new messages.
    removal.up_to = session.value<MessageId>("SELECT max(id) FROM messages").value_or(MessageId{});
    state::hide(session, removal);
  });
  cleared.text_may_linger = !state::reclaim(*context_, removal, progress);
  return cleared;
}

}  // namespace threadstore
