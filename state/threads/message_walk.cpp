#include "state/threads/message_walk.h"

#include "state/store_context.h"
#include "state/threads/history_damage.h"
#include "state/threads/message_record.h"
#include "state/threads/snapshot_budget.h"

namespace threadstore::state {

std::optional<Message> MessageWalk::read(db::Session& session) {
  static const std::string sql =
      "SELECT " + std::string(message_columns) + " FROM messages AS m WHERE m.id = ?";
  if (!next_) return std::nullopt;
  std::optional<std::string> other_owner;
  auto message = session.one(sql, {*next_}, [&](const db::Row& row) {
    if (row.view(owner_column) != owner_) other_owner = row.text(owner_column);
    return read_message(row, thread_);
  });
  if (!message && last_) throw_missing_parent(*last_);
  if (!message) throw_vanished(thread_);  // it was there when the walk was asked for
  if (!guard_.step(*next_)) throw_parent_cycle(*next_);
  if (other_owner) {
    const bool fork = session.exists("SELECT 1 FROM thread_forks WHERE thread_id = ?", {owner_});
    if (!fork) throw_foreign_parent(*next_, last_.value_or(*next_), ThreadId(owner_));
    owner_ = *std::move(other_owner);
  }
  last_ = next_;
  next_ = message->parent_entry_id;
  went_up_ = went_up_ || (next_ && *next_ >= *last_);
  return message;
}

void MessageWalk::resume(db::Session& session, const View& start) {
  const auto view = find_view(session, thread_);
  auto owner = session.value<std::string>("SELECT thread_id FROM messages WHERE id = ?", {*last_});
  const bool cleared = !view || !owner || view->hidden_up_to > start.hidden_up_to ||
                       view->fork_point != start.fork_point ||
                       (owner_ == thread_.str() && *owner != owner_);
  if (cleared) throw_vanished(thread_);
  owner_ = *std::move(owner);  // inherited history may have been handed on meanwhile
}

std::optional<MessageId> walk_branch(StoreContext& context, const ThreadId& thread,
                                     std::optional<MessageId> from, std::size_t most,
                                     const std::function<bool(Message&&)>& take) {
  std::optional<View> start;
  std::optional<MessageWalk> walk;
  std::vector<Message> batch;
  while (most > 0) {
    batch.clear();
    context.read([&](db::Session& session) {
      if (walk) {
        walk->resume(session, *start);
      } else {
        start = open_view(session, thread);
        walk.emplace(thread, from ? from : current_leaf(session, *start));
      }
      SnapshotBudget budget;
      while (auto message = walk->read(session)) {
        const std::size_t bytes =
            message->content.size() + (message->item ? message->item->size() : 0);
        batch.push_back(*std::move(message));
        if (batch.size() == most || !budget.spend(bytes)) break;
      }
    });
    most -= batch.size();
    for (Message& message : batch) {
      const auto parent = message.parent_entry_id;
      if (!take(std::move(message))) return parent;
    }
    if (!walk->next()) break;
  }
  // Whoever reads a cycle page by page must not read it for ever: prove that the rest ends.
  if (walk && walk->next() && walk->went_up() &&
      read_path(context, *walk->next()).end() == ForkPath::End::cycle) {
    throw_parent_cycle(*walk->next());
  }
  return walk ? walk->next() : std::nullopt;
}

}  // namespace threadstore::state
