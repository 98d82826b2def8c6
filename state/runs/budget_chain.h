#pragma once

#include <optional>
#include <vector>

#include "state/runs/run_record.h"

namespace threadstore::state {

/// What a run's use is charged to: the run, its active ancestors, nearest first, and at last the
/// thread of the root, whose goal may have a budget. Lives inside one transaction.
class BudgetChain {
 public:
  /// Of an active run. A stopped ancestor is not charged, those above it are.
  BudgetChain(db::Session& session, const RunScope& scope, const RunHead& run);

  BudgetDecision check_model_turn() const;
  BudgetDecision check_tool_calls(std::int64_t count) const;

  /// Each changes every link's usage and stores it; the ancestors' working states follow. Throws
  /// `conflict` when a counter would overflow.
  void charge_model_turn(UnixMillis now);
  void charge_tool_call(UnixMillis now);
  /// Also the goal. Says whether some link's token budget is exceeded by it.
  BudgetDecision charge_response(const std::optional<TokenUsage>& usage, UnixMillis now);

  /// The ancestors that are charged, for the event: so that usage can be made again from the logs.
  std::vector<std::string> ancestors() const;

 private:
  /// Stores the usage of every link; those above keep apart what was added.
  void store(const RunUsage& added, UnixMillis now);
  BudgetDecision charge_goal(const TokenUsage& usage, UnixMillis now);

  db::Session& session_;
  std::vector<RunHead> links_;
  std::optional<ThreadId> thread_;
};

}  // namespace threadstore::state
