#pragma once

#include <vector>

#include "state/runs/run_record.h"
#include "state/threads/snapshot_budget.h"

namespace threadstore::state {

/// A run of a tree.
struct TreeNode {
  RunId id{};
  UnixMillis created_at = 0;
};

/// The run and all below it, parents before their children, siblings in the order of creation.
/// Each once: a damaged file's parent cycle ends there. Reads in short snapshots. Throws
/// `not_found` without the run.
std::vector<TreeNode> walk_tree(const RunScope& scope, const RunId& root);

/// Calls `visit(session, node)` for each node, in short snapshots.
template <class Visit>
void visit_nodes(const RunScope& scope, const std::vector<TreeNode>& nodes, Visit&& visit) {
  for (std::size_t next = 0; next < nodes.size();) {
    scope.read([&](db::Session& session) {
      SnapshotBudget budget;
      do {
        visit(session, nodes[next++]);
      } while (budget.spend() && next < nodes.size());
    });
  }
}

}  // namespace threadstore::state
