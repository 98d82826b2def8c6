#include "state/threads/thread_record.h"
#include "threadstore/error.h"
#include "threadstore/threads.h"

namespace threadstore {

std::optional<Thread> Threads::find(const ThreadId& id) const {
  return context_->read(
      [&](db::Session& session) { return state::find_thread(*context_, session, id); });
}

Thread Threads::get(const ThreadId& id) const {
  return context_->read(
      [&](db::Session& session) { return state::get_thread(*context_, session, id); });
}

std::optional<std::string> Threads::memory_mode(const ThreadId& id) const {
  return get(id).memory_mode;
}

std::optional<std::string> Threads::find_rollout_path(const ThreadId& id) const {
  const auto thread = find(id);
  return thread ? thread->rollout_path : std::nullopt;
}

std::vector<Thread> Threads::find_by_name(const std::string& name) const {
  // The index threadstore_threads_name has this collation.
  static const std::string sql = state::select_threads + R"sql(
    AND threads.title = ? COLLATE NOCASE
    ORDER BY threads.updated_at DESC, threads.id DESC)sql";
  return context_->read([&](db::Session& session) {
    return session.all(sql, {name},
                       [&](const db::Row& row) { return state::read_thread(*context_, row); });
  });
}

std::vector<Thread> Threads::find_by_id_part(const std::string& part, std::size_t limit) const {
  if (part.empty()) {
    throw Error(ErrorCode::invalid_argument, "cannot look for threads by an empty part of an id");
  }
  // Beginnings come from a range of the primary key; ends need a look at every id, in the key's
  // index alone. U+10FFFF closes the range: no id goes on with it.
  static const std::string sql = state::select_threads + R"sql(
    AND threads.id IN (SELECT id FROM threads WHERE id >= ?1 AND id < ?2
                       UNION
                       SELECT id FROM threads WHERE substr(id, -length(?1)) = ?1)
    ORDER BY threads.updated_at DESC, threads.id DESC LIMIT ?3)sql";
  const std::string end = part + "\U0010FFFF";
  return context_->read([&](db::Session& session) {
    return session.all(sql, {part, end, static_cast<std::int64_t>(limit)},
                       [&](const db::Row& row) { return state::read_thread(*context_, row); });
  });
}

}  // namespace threadstore
