#include <algorithm>
#include <tuple>

#include "state/runs/run_usage.h"
#include "state/runs/tree_walk.h"
#include "threadstore/run_tree.h"

namespace threadstore {
namespace {

struct RunSpend {
  std::optional<std::string> provider{};
  std::string model{};
  RunUsage usage{};
  std::int64_t step_tokens = 0;
};

RunSpend read_spend(db::Session& session, const RunId& run) {
  auto spend = session.one("SELECT provider, model, step_tokens FROM runs WHERE id = ?", {run},
                           [](const db::Row& row) {
                             return RunSpend{.provider = row.get<std::optional<std::string>>(0),
                                             .model = row.text(1),
                                             .step_tokens = row.integer(2)};
                           });
  if (!spend) return {};  // removed since the walk
  spend->usage = state::read_own_usage(session, run);
  return *std::move(spend);
}

ModelUsage& of_model(std::vector<ModelUsage>& models, const RunSpend& spend) {
  const auto found = std::find_if(models.begin(), models.end(), [&](const ModelUsage& entry) {
    return entry.provider == spend.provider && entry.model == spend.model;
  });
  if (found != models.end()) return *found;
  models.push_back({.provider = spend.provider, .model = spend.model});
  return models.back();
}

}  // namespace

std::vector<RunId> RunTree::ids(const RunId& root) const {
  auto nodes = state::walk_tree(*scope_, root);
  std::stable_sort(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) {
    return std::tie(a.created_at, a.id) < std::tie(b.created_at, b.id);
  });
  std::vector<RunId> ids;
  ids.reserve(nodes.size());
  for (state::TreeNode& node : nodes) ids.push_back(std::move(node.id));
  return ids;
}

std::vector<Run> RunTree::runs(const RunId& root) const {
  std::vector<Run> runs;
  state::visit_nodes(
      *scope_, state::walk_tree(*scope_, root),
      [&](db::Session& session, const state::TreeNode& node) {
        auto run =
            session.one(state::select_runs + " AND r.id = ?2", {scope_->workspace, node.id},
                        [&](const db::Row& row) { return state::read_run(*scope_->context, row); });
        if (run) runs.push_back(*std::move(run));
      });
  return runs;
}

UsageReport RunTree::usage(const RunId& root) const {
  UsageReport report;
  state::visit_nodes(*scope_, state::walk_tree(*scope_, root),
                     [&](db::Session& session, const state::TreeNode& node) {
                       const RunSpend spend = read_spend(session, node.id);
                       if (node.id == root) {
                         report.own = spend.usage;
                         report.own_step_tokens = spend.step_tokens;
                       }
                       ++report.runs;
                       report.subtree = state::sum_of_usage(report.subtree, spend.usage);
                       report.subtree_step_tokens =
                           state::bounded_sum(report.subtree_step_tokens, spend.step_tokens);
                       ModelUsage& model = of_model(report.by_model, spend);
                       ++model.runs;
                       model.usage = state::sum_of_usage(model.usage, spend.usage);
                       model.step_tokens = state::bounded_sum(model.step_tokens, spend.step_tokens);
                     });
  std::sort(report.by_model.begin(), report.by_model.end(), [](const auto& a, const auto& b) {
    return std::tie(a.provider, a.model) < std::tie(b.provider, b.model);
  });
  return report;
}

}  // namespace threadstore
