#include <algorithm>

#include "state/store_context.h"
#include "state/threads/message_record.h"
#include "state/threads/snapshot_budget.h"
#include "state/threads/view.h"
#include "threadstore/messages.h"

namespace threadstore {

using state::StoreContext;
using state::ViewExtent;

namespace {

std::size_t text_size(const Message& message) {
  return message.content.size() + (message.item ? message.item->size() : 0);
}

std::vector<Message> of_all_threads(StoreContext& context, MessageId above, std::size_t limit) {
  static const std::string sql = "SELECT " + std::string(state::message_columns) + R"sql(
    FROM messages AS m
    WHERE m.id > ?1
      AND NOT EXISTS (SELECT 1 FROM thread_removals AS r
                      WHERE r.thread_id = m.thread_id AND m.id <= r.up_to_id)
    ORDER BY m.id LIMIT ?2)sql";
  std::vector<Message> found;
  for (bool more = true; more && found.size() < limit;) {
    more = false;
    context.read([&](db::Session& session) {
      state::SnapshotBudget budget;
      session.each(sql, {above, limit - found.size()}, [&](const db::Row& row) {
        found.push_back(state::read_message(row, ThreadId(row.text(state::owner_column))));
        above = found.back().id;
        more = !budget.spend(text_size(found.back()));
        return !more;
      });
    });
  }
  return found;
}

/// The part of a fork's path above `above`, ascending.
void add_inherited(StoreContext& context, const ViewExtent& extent, MessageId above,
                   std::size_t limit, std::vector<Message>& found) {
  static const std::string sql =
      "SELECT " + std::string(state::message_columns) + " FROM messages AS m WHERE m.id = ?";
  std::vector<MessageId> ids;
  for (const MessageId id : extent.path->upward()) {
    if (id > above) ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end());
  ids.resize(std::min(ids.size(), limit));
  for (auto id = ids.begin(); id != ids.end();) {
    context.read([&](db::Session& session) {
      extent.check_unchanged(session);
      state::SnapshotBudget budget;
      while (id != ids.end()) {
        session.each(sql, {*id++}, [&](const db::Row& row) {
          found.push_back(state::read_message(row, extent.view.thread));
        });
        if (!budget.spend(found.empty() ? 0 : text_size(found.back()))) break;
      }
    });
  }
}

/// The thread's own messages above `above`, ascending, by windows of ids: what other threads wrote
/// is passed over, a bounded number in each snapshot.
void add_own(StoreContext& context, const ViewExtent& extent, MessageId above, std::size_t limit,
             std::vector<Message>& found) {
  // The plus keeps SQLite on the primary key: the index by thread would have to be sorted.
  static const std::string sql = "SELECT " + std::string(state::message_columns) + R"sql(
    FROM messages AS m WHERE m.id > ?1 AND m.id <= ?2 AND +m.thread_id = ?3
    ORDER BY m.id LIMIT ?4)sql";
  constexpr std::int64_t window = 2000;
  while (above < extent.newest && found.size() < limit) {
    const MessageId end{std::min(to_int(above) + window, to_int(extent.newest))};
    context.read([&](db::Session& session) {
      extent.check_unchanged(session);
      state::SnapshotBudget budget;
      bool whole = true;
      session.each(sql, {above, end, extent.view.thread, limit - found.size()},
                   [&](const db::Row& row) {
                     found.push_back(state::read_message(row, extent.view.thread));
                     whole = budget.spend(text_size(found.back()));
                     return whole;
                   });
      above = whole ? end : found.back().id;
    });
  }
}

}  // namespace

std::vector<Message> Messages::since(std::optional<ThreadId> thread, MessageId id,
                                     std::size_t limit) const {
  if (!thread) return of_all_threads(*context_, id, limit);
  std::vector<Message> found;
  const ViewExtent extent = state::extent_of(*context_, *thread);
  if (extent.path) add_inherited(*context_, extent, id, limit, found);
  add_own(*context_, extent, std::max(id, extent.floor), limit, found);
  return found;
}

MessageId Messages::newest_id() const {
  return context_->read([](db::Session& session) {
    return session.value<MessageId>("SELECT max(id) FROM messages").value_or(MessageId{});
  });
}

}  // namespace threadstore
