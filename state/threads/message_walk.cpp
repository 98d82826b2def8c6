#include "state/threads/message_walk.h"

#include <algorithm>

#include "state/store_context.h"
#include "state/threads/history_damage.h"
#include "state/threads/message_record.h"
#include "state/threads/snapshot_budget.h"

namespace threadstore::state {
namespace {

/// The message of the parameter first, then those before it.
std::string_view select_downwards() {
  static const std::string sql = "SELECT " + std::string(message_columns) +
                                 " FROM messages AS m WHERE m.id <= ? ORDER BY m.id DESC";
  return sql;
}

}  // namespace

MessageWalk::Reader::Reader(db::Session& session)
    : session_(session), query_(session, select_downwards()) {}

bool MessageWalk::Reader::find(MessageId id) {
  const bool is_next_row = at_ && to_int(*at_) - 1 == to_int(id);
  const bool found = is_next_row ? query_.next() : query_.ask(to_int(id));
  at_.reset();
  if (!found || query_.row().get<MessageId>(0) != id) return false;
  at_ = id;
  return true;
}

bool MessageWalk::read(Reader& reader, std::vector<Message>& messages) {
  if (!next_) return false;
  const MessageId id = *next_;
  if (!reader.find(id)) {
    if (last_) throw_missing_parent(*last_);
    throw_vanished(thread_);  // it was there when the walk was asked for
  }
  if (!guard_.step(id)) throw_parent_cycle(id);
  const db::Row row = reader.query_.row();
  if (row.view(owner_column) != owner_) {
    const bool fork =
        reader.session_.exists("SELECT 1 FROM thread_forks WHERE thread_id = ?", {owner_});
    if (!fork) throw_foreign_parent(id, last_.value_or(id), ThreadId(owner_));
    owner_ = row.text(owner_column);
  }
  messages.push_back(read_message(row, thread_));
  last_ = id;
  next_ = messages.back().parent_entry_id;
  went_up_ = went_up_ || (next_ && *next_ >= *last_);
  return true;
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
  batch.reserve(std::min<std::size_t>(most, 128));
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
      MessageWalk::Reader reader(session);
      while (walk->read(reader, batch)) {
        const Message& message = batch.back();
        const std::size_t bytes =
            message.content.size() + (message.item ? message.item->size() : 0);
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
