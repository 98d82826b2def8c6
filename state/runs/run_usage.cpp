#include "state/runs/run_usage.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "threadstore/error.h"

namespace threadstore::state {

void check_budgets(const RunBudgets& budgets) {
  const std::pair<const char*, std::optional<std::int64_t>> all[] = {
      {"max_turns", budgets.max_turns},
      {"timeout_seconds", budgets.timeout_seconds},
      {"max_total_tokens", budgets.max_total_tokens},
      {"max_tool_calls", budgets.max_tool_calls},
      {"max_context_bytes", budgets.max_context_bytes}};
  for (const auto& [name, value] : all) {
    if (!value || *value > 0) continue;
    throw Error(ErrorCode::invalid_argument, std::string("the budget ") + name +
                                                 " must be above 0, not " + std::to_string(*value) +
                                                 "; leave it out for no limit");
  }
}

void store_usage(db::Session& session, const RunId& run, const RunUsage& usage) {
  session.run(R"(UPDATE runs SET
                   model_turns = ?, input_tokens = ?, output_tokens = ?, total_tokens = ?,
                   responses_with_usage = ?, responses_without_usage = ?, tool_calls = ?
                 WHERE id = ?)",
              {usage.model_turns, usage.input_tokens, usage.output_tokens, usage.total_tokens,
               usage.responses_with_usage, usage.responses_without_usage, usage.tool_calls, run});
}

void store_budgets(db::Session& session, const RunId& run, const RunBudgets& budgets) {
  session.run(R"(UPDATE runs SET
                   max_turns = ?, timeout_seconds = ?, max_total_tokens = ?, max_tool_calls = ?,
                   max_context_bytes = ?
                 WHERE id = ?)",
              {budgets.max_turns, budgets.timeout_seconds, budgets.max_total_tokens,
               budgets.max_tool_calls, budgets.max_context_bytes, run});
}

std::int64_t checked_sum(std::int64_t value, std::int64_t added, const char* counter,
                         const RunId& run) {
  if (added <= std::numeric_limits<std::int64_t>::max() - value) return value + added;
  throw Error(ErrorCode::conflict,
              "cannot add " + std::to_string(added) + " to " + counter + " of run " + run.str() +
                  ": the sum does not fit 63 bits; nothing was counted",
              {{"run_id", run.str()}, {"accounting_overflow", counter}});
}

}  // namespace threadstore::state
