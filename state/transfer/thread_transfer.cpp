#include "base/json.h"
#include "state/store_context.h"
#include "state/threads/thread_record.h"
#include "state/threads/view.h"
#include "threadstore/error.h"
#include "threadstore/transfer.h"

namespace threadstore {

std::vector<std::pair<MessageId, std::string>> Transfer::keys_of(const ThreadId& thread) const {
  return context_->read([&](db::Session& session) {
    state::require_thread(session, thread);
    // A batch has one key, of its last message. A source that is gone took its keys along.
    return session.all(
        R"sql(
        WITH RECURSIVE line(id) AS (
          SELECT ?1
          UNION
          SELECT f.source_thread_id FROM thread_forks AS f JOIN line ON f.thread_id = line.id)
        SELECT k.message_id, min(k.key) FROM message_keys AS k JOIN line ON k.thread_id = line.id
        GROUP BY k.message_id ORDER BY k.message_id)sql",
        {thread}, [](const db::Row& row) { return std::pair(row.get<MessageId>(0), row.text(1)); });
  });
}

bool Transfer::put_checkpoint(const Checkpoint& checkpoint) {
  const ThreadId& thread = checkpoint.thread_id;
  const std::string what =
      "checkpoint '" + checkpoint.checkpoint_id.str() + "' of thread " + thread.str();
  if (checkpoint.checkpoint_id.empty()) {
    throw Error(ErrorCode::invalid_argument,
                "cannot store a checkpoint of thread " + thread.str() + ": it has no name");
  }
  state::check_text(checkpoint.checkpoint_id.str(), "checkpoint_id");
  base::check_json(checkpoint.state, "the state of " + what);
  if (checkpoint.leaf_id) state::require_shown(*context_, thread, *checkpoint.leaf_id);
  return context_->write([&](db::Session& session) {
    state::require_thread(session, thread);
    const auto stored = session.value<std::int64_t>(
        "SELECT created_at FROM checkpoints WHERE thread_id = ? AND checkpoint_id = ?",
        {thread, checkpoint.checkpoint_id});
    if (stored && *stored >= checkpoint.created_at) return false;
    const auto newest = session.value<std::int64_t>(
        "SELECT coalesce(max(save_order), 0) FROM checkpoints WHERE thread_id = ?", {thread});
    // Null remembers nothing, 0 an empty thread (component_checkpoints.cpp).
    std::optional<MessageId> leaf = checkpoint.leaf_id;
    if (!leaf && checkpoint.restorable) leaf = MessageId{0};
    session.run(R"(INSERT INTO checkpoints (thread_id, checkpoint_id, state_json, created_at,
                                            leaf_id, save_order)
                   VALUES (?, ?, ?, ?, ?, ?)
                   ON CONFLICT (thread_id, checkpoint_id) DO UPDATE SET
                     state_json = excluded.state_json, created_at = excluded.created_at,
                     leaf_id = excluded.leaf_id, save_order = excluded.save_order)",
                {thread, checkpoint.checkpoint_id, checkpoint.state, checkpoint.created_at, leaf,
                 newest.value() + 1});
    return true;
  });
}

bool Transfer::put_origin(const ThreadId& thread, const ForkOrigin& origin) {
  if (origin.thread_id.empty()) {
    throw Error(ErrorCode::invalid_argument,
                "cannot say where thread " + thread.str() + " came from: the source has no id");
  }
  if (origin.message_id) state::require_shown(*context_, thread, *origin.message_id);
  return context_->write([&](db::Session& session) {
    state::require_thread(session, thread);
    return session.run(R"sql(
        INSERT INTO thread_forks(thread_id, source_thread_id, message_id, created_at)
        SELECT ?1, ?2, ?3, created_at FROM threads WHERE id = ?1
        ON CONFLICT (thread_id) DO NOTHING)sql",
                       {thread, origin.thread_id, origin.message_id}) > 0;
  });
}

}  // namespace threadstore
