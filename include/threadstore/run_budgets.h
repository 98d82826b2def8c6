#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "threadstore/run_record.h"

namespace threadstore {

namespace state {
struct RunScope;
}

/// Accounting of the runs of one workspace. What a run uses is charged to it, to its active
/// ancestors and, at last, to the active goal of its thread, all in one commit; each of them may
/// forbid more. A light handle like `Runs`. Everything here wants the run itself to be active.
class RunAccounts {
 public:
  /// Asks for a model turn, and counts and logs it (`model.requested`) when the chain allows it.
  /// Checked in this order over the whole chain: token_usage_unavailable, total_tokens,
  /// model_turns. Exceeded: nothing is written. `payload` is any JSON.
  BudgetDecision request_model(const RunId& run, const std::string& payload = "{}");

  /// Counts and logs what a response cost (`model.responded`), also when that exceeds a budget: the
  /// call happened. Without usage a token budget anywhere in the chain is exceeded. `conflict`,
  /// with nothing written, when a counter would leave 63 bits.
  BudgetDecision record_response(const RunId& run, const std::optional<TokenUsage>& usage,
                                 const std::string& payload = "{}");

  /// Whether a further model turn would be allowed. Writes nothing.
  BudgetDecision check_model_turn(const RunId& run) const;
  /// Whether a batch of `count` further calls would be.
  BudgetDecision check_tool_calls(const RunId& run, std::int64_t count) const;

  /// Sets the budgets of a run that is not completed; a set value may only grow or be lifted
  /// (absent). A run that stopped for a limit can then be reopened.
  Run raise(const RunId& run, const RunBudgets& budgets);

 private:
  friend class Runs;
  explicit RunAccounts(std::shared_ptr<const state::RunScope> scope) : scope_(std::move(scope)) {}
  std::shared_ptr<const state::RunScope> scope_;
};

}  // namespace threadstore
