#include "state/threads/message_reclaimer.h"

#include <chrono>
#include <tuple>

namespace threadstore::state {
namespace {

constexpr std::int64_t most_settled = 200;
constexpr int most_looks = 4000;  // at messages that are not yet to be settled
constexpr std::chrono::milliseconds most_time{10};

std::string_view kind_of(const Removal& removal) {
  return removal.whole_thread ? "remove" : "clear";
}

}  // namespace

bool MessageReclaimer::still_wanted(db::Session& session) const {
  // Without this row the thread may be a new one of the same id. A clearing may have become the
  // removal of the whole thread: then it goes on as part of that.
  if (removal_.whole_thread) {
    return session.exists("SELECT 1 FROM thread_removals WHERE thread_id = ? AND kind = ?",
                          {removal_.thread, kind_of(removal_)});
  }
  return session.exists("SELECT 1 FROM thread_removals WHERE thread_id = ? AND up_to_id >= ?",
                        {removal_.thread, removal_.up_to});
}

std::vector<MessageId> MessageReclaimer::newest_first(db::Session& session) const {
  return session.all(R"sql(
      SELECT id FROM messages WHERE thread_id = ? AND id <= ?
      ORDER BY created_at DESC, id DESC LIMIT ?)sql",
                     {removal_.thread, removal_.up_to, most_settled},
                     [](const db::Row& row) { return row.get<MessageId>(0); });
}

std::optional<MessageId> MessageReclaimer::hidden_child(db::Session& session, MessageId id) const {
  return session.value<MessageId>(R"sql(
      SELECT id FROM messages WHERE parent_entry_id = ? AND thread_id = ? AND id <= ?
      ORDER BY id DESC LIMIT 1)sql",
                                  {id, removal_.thread, removal_.up_to});
}

std::optional<ThreadId> MessageReclaimer::heir(db::Session& session, MessageId id) const {
  std::optional<std::tuple<bool, std::int64_t, std::string>> best;
  session.each(R"sql(
      SELECT f.thread_id, f.created_at, 0
      FROM thread_forks AS f
      WHERE f.message_id = ?1 AND f.thread_id <> ?2
      UNION ALL
      SELECT f.thread_id, f.created_at,
             EXISTS (SELECT 1 FROM thread_removals AS r
                     WHERE r.thread_id = c.thread_id AND c.id <= r.up_to_id)
      FROM messages AS c JOIN thread_forks AS f ON f.thread_id = c.thread_id
      WHERE c.parent_entry_id = ?1 AND c.thread_id <> ?2)sql",
               {id, removal_.thread}, [&](const db::Row& row) {
                 std::tuple candidate{row.get<bool>(2), row.integer(1), row.text(0)};
                 if (!best || candidate < *best) best = std::move(candidate);
               });
  if (!best) return std::nullopt;
  return ThreadId(std::get<2>(*std::move(best)));
}

std::int64_t MessageReclaimer::settle(db::Session& session, MessageId id, bool forks_exist) const {
  if (const auto to = forks_exist ? heir(session, id) : std::nullopt) {
    return session.run("UPDATE messages SET thread_id = ? WHERE id = ? AND thread_id = ?",
                       {*to, id, removal_.thread});
  }
  return session.run("DELETE FROM messages WHERE id = ? AND thread_id = ?", {id, removal_.thread});
}

std::int64_t MessageReclaimer::settle_batch(db::Session& session) {
  std::vector<MessageId> queue;
  if (still_wanted(session)) queue = newest_first(session);
  done_ = queue.empty();
  if (done_) return 0;
  const bool forks_exist = session.exists("SELECT 1 FROM thread_forks LIMIT 1");
  const auto end = std::chrono::steady_clock::now() + most_time;
  std::int64_t settled = 0;
  int looks = 0;
  auto next = queue.begin();
  while (settled < most_settled && looks < most_looks && std::chrono::steady_clock::now() < end) {
    if (descent_.empty()) {
      if (next == queue.end()) break;
      descent_.push_back(*next++);
    }
    const MessageId id = descent_.back();
    const auto child = hidden_child(session, id);
    if (child && in_descent_.insert(to_int(*child)).second) {
      descent_.push_back(*child);
      ++looks;
      continue;
    }
    settled += settle(session, id, forks_exist);
    descent_.pop_back();
    if (descent_.empty()) in_descent_.clear();
  }
  return settled;
}

}  // namespace threadstore::state
