#include <algorithm>
#include <functional>
#include <limits>
#include <queue>

#include "base/utf8.h"
#include "state/store_context.h"
#include "state/threads/history_damage.h"
#include "state/threads/message_record.h"
#include "state/threads/snapshot_budget.h"
#include "state/threads/view.h"
#include "threadstore/messages.h"

namespace threadstore {

using state::StoreContext;
using state::ViewExtent;

namespace {

/// A place in the index by thread, which orders by time and then id.
struct TimeKey {
  std::int64_t created_at = std::numeric_limits<std::int64_t>::min();
  std::int64_t id = std::numeric_limits<std::int64_t>::min();
};

constexpr TimeKey end_of_time{std::numeric_limits<std::int64_t>::max(),
                              std::numeric_limits<std::int64_t>::max()};

std::string preview_of(std::string_view content) {
  const std::string_view line = content.substr(0, content.find_first_of("\r\n"));
  return std::string(base::cut_to_code_points(line, 80));
}

TreeNode read_node(const db::Row& row) {
  return {
      .id = row.get<MessageId>(0),
      .parent_entry_id = row.get<std::optional<MessageId>>(1),
      .role = row.text(2),
      .preview = preview_of(row.view(3)),
      .created_at = row.integer(4),
      .children = {},
  };
}

constexpr std::string_view node_columns =
    "m.id, m.parent_entry_id, m.role, substr(m.content, 1, 80), m.created_at";

void add_own_nodes(StoreContext& context, const ViewExtent& extent, std::vector<TreeNode>& nodes) {
  static const std::string sql = "SELECT " + std::string(node_columns) + R"sql(
    FROM messages AS m
    WHERE m.thread_id = ?1 AND (m.created_at, m.id) > (?2, ?3) AND m.id > ?4 AND m.id <= ?5
    ORDER BY m.created_at, m.id)sql";
  TimeKey last;
  for (bool more = true; more;) {
    more = false;
    context.read([&](db::Session& session) {
      extent.check_unchanged(session);
      state::SnapshotBudget budget;
      session.each(sql, {extent.view.thread, last.created_at, last.id, extent.floor, extent.newest},
                   [&](const db::Row& row) {
                     nodes.push_back(read_node(row));
                     last = {nodes.back().created_at, to_int(nodes.back().id)};
                     more = !budget.spend();
                     return !more;
                   });
    });
  }
}

void add_inherited_nodes(StoreContext& context, const ViewExtent& extent,
                         std::vector<TreeNode>& nodes) {
  static const std::string sql =
      "SELECT " + std::string(node_columns) + " FROM messages AS m WHERE m.id = ?";
  const std::vector<MessageId>& ids = extent.path->upward();
  for (auto id = ids.begin(); id != ids.end();) {
    context.read([&](db::Session& session) {
      extent.check_unchanged(session);
      state::SnapshotBudget budget;
      while (id != ids.end()) {
        session.each(sql, {*id++}, [&](const db::Row& row) { nodes.push_back(read_node(row)); });
        if (!budget.spend()) break;
      }
    });
  }
}

std::vector<TreeNode>::iterator find_node(std::vector<TreeNode>& by_id, MessageId id) {
  const auto at =
      std::lower_bound(by_id.begin(), by_id.end(), id,
                       [](const TreeNode& node, MessageId key) { return node.id < key; });
  return at != by_id.end() && at->id == id ? at : by_id.end();
}

/// Parents before children, otherwise by id: ids alone do not say so in chains that were
/// back-filled by the clock. Throws `damaged` at a cycle.
std::vector<TreeNode> parents_first(std::vector<TreeNode> by_id) {
  std::priority_queue<MessageId, std::vector<MessageId>, std::greater<>> ready;
  for (const TreeNode& node : by_id) {
    if (!node.parent_entry_id) ready.push(node.id);
  }
  std::vector<TreeNode> ordered;
  std::vector<bool> placed(by_id.size());
  ordered.reserve(by_id.size());
  while (!ready.empty()) {
    const auto node = find_node(by_id, ready.top());
    ready.pop();
    for (const MessageId child : node->children) ready.push(child);
    placed[static_cast<std::size_t>(node - by_id.begin())] = true;
    ordered.push_back(std::move(*node));
    node->id = ordered.back().id;  // the moved-from node still answers look-ups
  }
  const auto left = std::find(placed.begin(), placed.end(), false);
  if (left != placed.end()) {
    state::throw_parent_cycle(by_id[static_cast<std::size_t>(left - placed.begin())].id);
  }
  return ordered;
}

/// Fills in the children of nodes that are sorted by id; says whether a parent has a higher id.
bool link(std::vector<TreeNode>& by_id, StoreContext& context, const ThreadId& thread) {
  bool out_of_order = false;
  for (const TreeNode& node : by_id) {
    if (!node.parent_entry_id) continue;
    const auto parent = find_node(by_id, *node.parent_entry_id);
    if (parent == by_id.end()) {
      const bool exists = context.read([&](db::Session& session) {
        return session.exists("SELECT 1 FROM messages WHERE id = ?", {*node.parent_entry_id});
      });
      if (exists) state::throw_foreign_parent(*node.parent_entry_id, node.id, thread);
      state::throw_missing_parent(node.id);
    }
    parent->children.push_back(node.id);
    out_of_order = out_of_order || parent->id >= node.id;
  }
  return out_of_order;
}

/// How many messages one snapshot examines.
constexpr std::int64_t kMostExamined = 10'000;

/// The key of the last of the next own messages after `start` that one snapshot examines.
TimeKey next_stop(db::Session& session, const ThreadId& thread, TimeKey start) {
  TimeKey last = end_of_time;
  std::int64_t seen = 0;
  session.each(R"sql(
      SELECT created_at, id FROM messages
      WHERE thread_id = ?1 AND (created_at, id) > (?2, ?3) ORDER BY created_at, id LIMIT ?4)sql",
               {thread, start.created_at, start.id, kMostExamined}, [&](const db::Row& row) {
                 if (++seen == kMostExamined) last = {row.integer(0), row.integer(1)};
               });
  return last;
}

/// Own messages that no own message names as parent: all that the snapshot holds, or those between
/// two keys as they were at `extent.newest`. Children of other owners only exist where there are
/// forks; without any, the index of parents answers alone.
class LeafQuery {
 public:
  explicit LeafQuery(db::Session& session)
      : session_(session), forks_(session.exists("SELECT 1 FROM thread_forks LIMIT 1")) {}

  void all(const ViewExtent& extent, std::vector<Message>& leaves) {
    static const Pair sql = both("");
    add(sql, {extent.view.thread, extent.floor}, extent, leaves);
  }

  void between(TimeKey start, TimeKey stop, const ViewExtent& extent,
               std::vector<Message>& leaves) {
    static const Pair sql = both(" AND c.id <= ?7", R"sql( AND m.id <= ?7
        AND (m.created_at, m.id) > (?3, ?4) AND (m.created_at, m.id) <= (?5, ?6))sql");
    add(sql,
        {extent.view.thread, extent.floor, start.created_at, start.id, stop.created_at, stop.id,
         extent.newest},
        extent, leaves);
  }

 private:
  struct Pair {
    std::string without_forks, with_forks;
  };

  static Pair both(const std::string& children, const std::string& messages = "") {
    const std::string head = "SELECT " + std::string(state::message_columns) +
                             " FROM messages AS m WHERE m.thread_id = ?1 AND m.id > ?2" + messages +
                             " AND NOT EXISTS (SELECT 1 FROM messages AS c"
                             " WHERE c.parent_entry_id = m.id" +
                             children;
    const std::string tail = ") ORDER BY m.created_at, m.id";
    return {.without_forks = head + tail, .with_forks = head + " AND c.thread_id = ?1" + tail};
  }

  void add(const Pair& sql, db::Values values, const ViewExtent& extent,
           std::vector<Message>& leaves) {
    session_.each(forks_ ? sql.with_forks : sql.without_forks, values, [&](const db::Row& row) {
      leaves.push_back(state::read_message(row, extent.view.thread));
    });
  }

  db::Session& session_;
  bool forks_;
};

bool fits_one_snapshot(db::Session& session, const ViewExtent& extent) {
  return to_int(extent.newest) - to_int(extent.floor) <= kMostExamined ||
         state::count_shown(session, extent) <= kMostExamined;
}

}  // namespace

std::vector<TreeNode> Messages::tree(const ThreadId& thread) const {
  const ViewExtent extent = state::extent_of(*context_, thread);
  std::vector<TreeNode> nodes;
  if (extent.path) add_inherited_nodes(*context_, extent, nodes);
  add_own_nodes(*context_, extent, nodes);
  std::sort(nodes.begin(), nodes.end(),
            [](const TreeNode& a, const TreeNode& b) { return a.id < b.id; });
  const bool out_of_order = link(nodes, *context_, thread);
  for (TreeNode& node : nodes) node.is_current_leaf = node.id == extent.view.stored_leaf;
  return out_of_order ? parents_first(std::move(nodes)) : nodes;
}

std::vector<Message> Messages::leaves(const ThreadId& thread) const {
  const ViewExtent extent = state::extent_of(*context_, thread);
  std::vector<Message> leaves;
  bool done = false;
  context_->read([&](db::Session& session) {
    extent.check_unchanged(session);
    done = fits_one_snapshot(session, extent);
    if (done) LeafQuery(session).all(extent, leaves);
  });
  for (TimeKey start; !done;) {
    context_->read([&](db::Session& session) {
      extent.check_unchanged(session);
      const TimeKey stop = next_stop(session, thread, start);
      LeafQuery(session).between(start, stop, extent, leaves);
      done = stop.id == end_of_time.id;
      start = stop;
    });
  }
  std::sort(leaves.begin(), leaves.end(),
            [](const Message& a, const Message& b) { return a.id < b.id; });
  if (extent.path && children(thread, extent.path->tip()).empty()) {
    leaves.insert(leaves.begin(), get(thread, extent.path->tip()));
  }
  return leaves;
}

std::vector<Message> Messages::children(const ThreadId& thread, MessageId parent) const {
  static const std::string sql = "SELECT " + std::string(state::message_columns) +
                                 " FROM messages AS m WHERE m.parent_entry_id = ? ORDER BY m.id";
  state::require_shown(*context_, thread, parent);
  const ViewExtent extent = state::extent_of(*context_, thread);
  const auto inherited = extent.path ? extent.path->child_of(parent) : std::nullopt;
  std::vector<Message> children;
  context_->read([&](db::Session& session) {
    extent.check_unchanged(session);
    session.each(sql, {parent}, [&](const db::Row& row) {
      const bool own = row.view(state::owner_column) == std::string_view(thread.str()) &&
                       row.get<MessageId>(0) > extent.floor;
      if (own || row.get<MessageId>(0) == inherited) {
        children.push_back(state::read_message(row, thread));
      }
    });
  });
  return children;
}

std::int64_t Messages::count(const ThreadId& thread) const {
  const ViewExtent extent = state::extent_of(*context_, thread);
  return context_->read([&](db::Session& session) {
    extent.check_unchanged(session);
    return state::count_shown(session, extent);
  });
}

}  // namespace threadstore
