#include "state/runs/tree_walk.h"

#include <limits>
#include <string>
#include <unordered_set>

namespace threadstore::state {
namespace {

const std::string kChildren = std::string(R"sql(
  SELECT r.id, r.created_at FROM runs AS r
  WHERE r.parent_run_id = ?1 AND (r.created_at, r.id) > (?2, ?3) AND r.workspace_id = ?4 AND)sql") +
                              visible_run + " ORDER BY r.created_at, r.id";

/// Before every run: creation times are not negative but in damaged files, which lose nothing here.
constexpr UnixMillis kBeforeAll = std::numeric_limits<UnixMillis>::min();

}  // namespace

std::vector<TreeNode> walk_tree(const RunScope& scope, const RunId& root) {
  std::vector<TreeNode> nodes{scope.read([&](db::Session& session) {
    const RunHead head = require_run(session, scope, root);
    return TreeNode{.id = head.id, .created_at = head.created_at};
  })};
  std::unordered_set<std::string> seen{root.str()};
  TreeNode last{.created_at = kBeforeAll};  // the child that was seen last
  for (std::size_t parent = 0; parent < nodes.size();) {
    scope.read([&](db::Session& session) {
      SnapshotBudget budget;
      for (bool more = true; more && parent < nodes.size();) {
        const RunId id = nodes[parent].id;
        const TreeNode behind = last;  // what is bound must not change while rows come
        bool whole = true;
        session.each(kChildren, {id, behind.created_at, behind.id, scope.workspace},
                     [&](const db::Row& row) {
                       last = {.id = row.get<RunId>(0), .created_at = row.integer(1)};
                       if (seen.insert(last.id.str()).second) nodes.push_back(last);
                       whole = budget.spend();
                       return whole;
                     });
        more = whole;
        if (!whole) break;
        last = {.id = {}, .created_at = kBeforeAll};
        ++parent;
        more = budget.spend();
      }
    });
  }
  return nodes;
}

}  // namespace threadstore::state
