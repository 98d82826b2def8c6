#include "state/threads/view.h"

#include <nlohmann/json.hpp>

#include "state/store_context.h"
#include "state/threads/history_damage.h"
#include "state/threads/thread_record.h"
#include "threadstore/error.h"

namespace threadstore::state {

std::optional<View> find_view(db::Session& session, const ThreadId& thread) {
  constexpr std::string_view sql = R"sql(
    SELECT t.current_leaf_id, l.id, t.updated_at, r.kind, r.up_to_id, f.message_id
    FROM threads AS t
    LEFT JOIN messages AS l ON l.id = t.current_leaf_id
    LEFT JOIN thread_removals AS r ON r.thread_id = t.id
    LEFT JOIN thread_forks AS f ON f.thread_id = t.id
    WHERE t.id = ?)sql";
  std::optional<View> view;
  session.each(sql, {thread}, [&](const db::Row& row) {
    if (row.view(3) == "remove") return;
    view.emplace();
    view->thread = thread;
    view->stored_leaf = row.get<std::optional<MessageId>>(0);
    view->leaf_missing = view->stored_leaf && row.is_null(1);
    view->updated_at = row.integer(2);
    view->hidden_up_to = row.get<MessageId>(4);
    view->fork_point = row.get<std::optional<MessageId>>(5);
  });
  return view;
}

View open_view(db::Session& session, const ThreadId& thread) {
  auto view = find_view(session, thread);
  if (!view) throw_no_thread(thread);
  return *std::move(view);
}

std::optional<MessageId> current_leaf(db::Session& session, const View& view) {
  if (!view.leaf_missing) return view.stored_leaf;
  const bool emptied =
      !view.fork_point &&
      !session.exists("SELECT 1 FROM messages WHERE thread_id = ? LIMIT 1", {view.thread});
  if (emptied) return std::nullopt;
  throw Error(ErrorCode::damaged,
              "thread " + view.thread.str() + " continues at message " +
                  std::to_string(to_int(*view.stored_leaf)) +
                  ", which does not exist (another program deleted it, or the file is damaged); "
                  "switch to one of the thread's leaves",
              {{"thread_id", view.thread.str()}, {"message_id", to_int(*view.stored_leaf)}});
}

bool shows(db::Session& session, const View& view, MessageId id, const ForkPath* path) {
  const auto own = session.one(
      "SELECT thread_id FROM messages WHERE id = ?", {id},
      [&](const db::Row& row) { return row.view(0) == std::string_view(view.thread.str()); });
  if (!own) return false;
  if (*own) return id > view.hidden_up_to;
  if (!view.fork_point) return false;
  return id == *view.fork_point ||
         (path != nullptr && path->tip() == *view.fork_point && path->contains(id));
}

std::shared_ptr<const ForkPath> path_to_judge(StoreContext& context, const ThreadId& thread,
                                              MessageId id) {
  const auto fork_point = context.read([&](db::Session& session) -> std::optional<MessageId> {
    // Most threads are no forks, and need no further look.
    if (!session.exists("SELECT 1 FROM thread_forks WHERE thread_id = ?", {thread})) return {};
    const View view = open_view(session, thread);
    return shows(session, view, id, nullptr) ? std::nullopt : view.fork_point;
  });
  return fork_point ? context.fork_paths->path_of(context, *fork_point) : nullptr;
}

void require_shown(StoreContext& context, const ThreadId& thread, MessageId id) {
  const auto path = path_to_judge(context, thread, id);
  const bool shown = context.read([&](db::Session& session) {
    return shows(session, open_view(session, thread), id, path.get());
  });
  if (!shown) throw_no_message(thread, id);
}

void throw_no_message(const ThreadId& thread, MessageId id) {
  throw Error(ErrorCode::not_found,
              "thread " + thread.str() + " shows no message " + std::to_string(to_int(id)) +
                  " (it does not exist, was cleared, or belongs to another thread)",
              {{"thread_id", thread.str()}, {"message_id", to_int(id)}});
}

void ViewExtent::check_unchanged(db::Session& session) const {
  const auto now = find_view(session, view.thread);
  const bool unchanged = now && now->hidden_up_to <= view.hidden_up_to &&
                         now->fork_point == view.fork_point &&
                         (!witness || shows(session, *now, *witness, nullptr));
  if (!unchanged) throw_vanished(view.thread);
}

ViewExtent extent_of(StoreContext& context, const ThreadId& thread) {
  ViewExtent extent;
  context.read([&](db::Session& session) {
    extent.view = open_view(session, thread);
    extent.witness =
        session.value<MessageId>("SELECT id FROM messages WHERE thread_id = ? AND id > ? LIMIT 1",
                                 {thread, extent.view.hidden_up_to});
    extent.newest = session.value<MessageId>("SELECT max(id) FROM messages").value_or(MessageId{});
  });
  extent.floor = extent.view.hidden_up_to;
  if (extent.view.fork_point) {
    extent.path = context.fork_paths->path_of(context, *extent.view.fork_point);
    extent.floor = std::max(extent.floor, extent.path->newest());
  }
  return extent;
}

std::int64_t count_shown(db::Session& session, const ViewExtent& extent) {
  const auto own =
      session.value<std::int64_t>("SELECT count(*) FROM messages WHERE thread_id = ? AND id > ?",
                                  {extent.view.thread, extent.floor});
  return own.value_or(0) + (extent.path ? static_cast<std::int64_t>(extent.path->size()) : 0);
}

}  // namespace threadstore::state
