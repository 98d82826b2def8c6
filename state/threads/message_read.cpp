#include <algorithm>
#include <limits>

#include "state/store_context.h"
#include "state/threads/history_damage.h"
#include "state/threads/message_record.h"
#include "state/threads/message_walk.h"
#include "threadstore/error.h"
#include "threadstore/messages.h"

namespace threadstore {

using state::StoreContext;
using state::View;

namespace {

constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

/// The message when the thread's view has it; its thread exists.
std::optional<Message> find_in_view(StoreContext& context, const ThreadId& thread, MessageId id) {
  static const std::string sql =
      "SELECT " + std::string(state::message_columns) + " FROM messages AS m WHERE m.id = ?";
  const auto path = state::path_to_judge(context, thread, id);
  return context.read([&](db::Session& session) -> std::optional<Message> {
    const View view = state::open_view(session, thread);
    if (!state::shows(session, view, id, path.get())) return std::nullopt;
    return session.one(sql, {id},
                       [&](const db::Row& row) { return state::read_message(row, thread); });
  });
}

std::optional<MessageId> parent_of(StoreContext& context, const ThreadId& thread, MessageId id) {
  state::require_shown(context, thread, id);
  return context.read([&](db::Session& session) -> std::optional<MessageId> {
    return session
        .one("SELECT parent_entry_id FROM messages WHERE id = ?", {id},
             [](const db::Row& row) { return row.get<std::optional<MessageId>>(0); })
        .value_or(std::nullopt);
  });
}

std::vector<Message> oldest_first(std::vector<Message> newest_first) {
  std::reverse(newest_first.begin(), newest_first.end());
  return newest_first;
}

}  // namespace

std::optional<Message> Messages::find(const ThreadId& thread, MessageId id) const {
  return find_in_view(*context_, thread, id);
}

Message Messages::get(const ThreadId& thread, MessageId id) const {
  auto message = find(thread, id);
  if (!message) state::throw_no_message(thread, id);
  return *std::move(message);
}

BranchPage Messages::list(const ThreadId& thread, const BranchQuery& query) const {
  if (query.limit == 0) {
    throw Error(ErrorCode::invalid_argument, "a page of a branch holds at least 1 message");
  }
  std::optional<MessageId> from;
  if (query.before) {
    from = parent_of(*context_, thread, *query.before);
    if (!from) return {};
  } else if (query.leaf) {
    state::require_shown(*context_, thread, *query.leaf);
    from = query.leaf;
  }
  BranchPage page;
  const auto older =
      state::walk_branch(*context_, thread, from, query.limit, [&](Message&& message) {
        page.messages.push_back(std::move(message));
        return true;
      });
  page.messages = oldest_first(std::move(page.messages));
  page.more = older.has_value();
  return page;
}

void Messages::walk(const ThreadId& thread, std::optional<MessageId> leaf,
                    const std::function<bool(const Message&)>& visit) const {
  if (leaf) state::require_shown(*context_, thread, *leaf);
  state::walk_branch(*context_, thread, leaf, no_limit,
                     [&](Message&& message) { return visit(message); });
}

std::vector<Message> Messages::path_from_root(const ThreadId& thread, MessageId id) const {
  state::require_shown(*context_, thread, id);
  std::vector<Message> path;
  state::walk_branch(*context_, thread, id, no_limit, [&](Message&& message) {
    path.push_back(std::move(message));
    return true;
  });
  return oldest_first(std::move(path));
}

std::int64_t Messages::depth(const ThreadId& thread, MessageId id) const {
  state::require_shown(*context_, thread, id);
  const state::ForkPath path = state::read_path(*context_, id);
  if (path.end() == state::ForkPath::End::missing)
    state::throw_missing_parent(path.upward().back());
  if (path.end() == state::ForkPath::End::cycle) state::throw_parent_cycle(id);
  return static_cast<std::int64_t>(path.size());
}

}  // namespace threadstore
