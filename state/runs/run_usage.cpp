#include "state/runs/run_usage.h"

#include <algorithm>
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

void store_usage_above(db::Session& session, const RunId& run, const RunUsage& usage,
                       const RunUsage& added) {
  session.run(R"(UPDATE runs SET
                   model_turns = ?, input_tokens = ?, output_tokens = ?, total_tokens = ?,
                   responses_with_usage = ?, responses_without_usage = ?, tool_calls = ?,
                   below_model_turns = below_model_turns + ?,
                   below_input_tokens = below_input_tokens + ?,
                   below_output_tokens = below_output_tokens + ?,
                   below_total_tokens = below_total_tokens + ?,
                   below_responses_with_usage = below_responses_with_usage + ?,
                   below_responses_without_usage = below_responses_without_usage + ?,
                   below_tool_calls = below_tool_calls + ?
                 WHERE id = ?)",
              {usage.model_turns, usage.input_tokens, usage.output_tokens, usage.total_tokens,
               usage.responses_with_usage, usage.responses_without_usage, usage.tool_calls,
               added.model_turns, added.input_tokens.value_or(0), added.output_tokens.value_or(0),
               added.total_tokens.value_or(0), added.responses_with_usage,
               added.responses_without_usage, added.tool_calls, run});
}

void store_own_usage(db::Session& session, const RunId& run, const RunUsage& own,
                     const RunUsage& below) {
  session.run(R"(UPDATE runs SET
                   below_model_turns = 0, below_input_tokens = 0, below_output_tokens = 0,
                   below_total_tokens = 0, below_responses_with_usage = 0,
                   below_responses_without_usage = 0, below_tool_calls = 0
                 WHERE id = ?)",
              {run});
  store_usage_above(session, run, sum_of_usage(own, below), below);
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

std::int64_t bounded_sum(std::int64_t one, std::int64_t other) {
  constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();
  return other > highest - one ? highest : one + other;
}

namespace {

std::optional<std::int64_t> sum_if_any(const std::optional<std::int64_t>& one,
                                       const std::optional<std::int64_t>& other) {
  if (!one && !other) return std::nullopt;
  return bounded_sum(one.value_or(0), other.value_or(0));
}

std::int64_t rest(std::int64_t whole, std::int64_t part) {
  return std::max<std::int64_t>(0, whole - part);
}

}  // namespace

RunUsage sum_of_usage(const RunUsage& one, const RunUsage& other) {
  return {
      .model_turns = bounded_sum(one.model_turns, other.model_turns),
      .input_tokens = sum_if_any(one.input_tokens, other.input_tokens),
      .output_tokens = sum_if_any(one.output_tokens, other.output_tokens),
      .total_tokens = sum_if_any(one.total_tokens, other.total_tokens),
      .responses_with_usage = bounded_sum(one.responses_with_usage, other.responses_with_usage),
      .responses_without_usage =
          bounded_sum(one.responses_without_usage, other.responses_without_usage),
      .tool_calls = bounded_sum(one.tool_calls, other.tool_calls),
  };
}

RunUsage usage_without(const RunUsage& whole, const RunUsage& part) {
  RunUsage own{
      .model_turns = rest(whole.model_turns, part.model_turns),
      .responses_with_usage = rest(whole.responses_with_usage, part.responses_with_usage),
      .responses_without_usage = rest(whole.responses_without_usage, part.responses_without_usage),
      .tool_calls = rest(whole.tool_calls, part.tool_calls),
  };
  if (own.responses_with_usage == 0) return own;
  own.input_tokens = rest(whole.input_tokens.value_or(0), part.input_tokens.value_or(0));
  own.output_tokens = rest(whole.output_tokens.value_or(0), part.output_tokens.value_or(0));
  own.total_tokens = rest(whole.total_tokens.value_or(0), part.total_tokens.value_or(0));
  return own;
}

bool covers(const RunUsage& whole, const RunUsage& part) {
  return part.model_turns <= whole.model_turns && part.tool_calls <= whole.tool_calls &&
         part.responses_with_usage <= whole.responses_with_usage &&
         part.responses_without_usage <= whole.responses_without_usage &&
         part.input_tokens.value_or(0) <= whole.input_tokens.value_or(0) &&
         part.output_tokens.value_or(0) <= whole.output_tokens.value_or(0) &&
         part.total_tokens.value_or(0) <= whole.total_tokens.value_or(0);
}

RunUsage read_own_usage(db::Session& session, const RunId& run) {
  const auto read = [](const db::Row& row, int first) {
    using Tokens = std::optional<std::int64_t>;
    return RunUsage{.model_turns = row.integer(first),
                    .input_tokens = row.get<Tokens>(first + 1),
                    .output_tokens = row.get<Tokens>(first + 2),
                    .total_tokens = row.get<Tokens>(first + 3),
                    .responses_with_usage = row.integer(first + 4),
                    .responses_without_usage = row.integer(first + 5),
                    .tool_calls = row.integer(first + 6)};
  };
  return session
      .one(R"(SELECT model_turns, input_tokens, output_tokens, total_tokens, responses_with_usage,
                     responses_without_usage, tool_calls,
                     below_model_turns, below_input_tokens, below_output_tokens,
                     below_total_tokens, below_responses_with_usage,
                     below_responses_without_usage, below_tool_calls
              FROM runs WHERE id = ?)",
           {run}, [&](const db::Row& row) { return usage_without(read(row, 0), read(row, 7)); })
      .value_or(RunUsage{});
}

}  // namespace threadstore::state
