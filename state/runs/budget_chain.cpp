#include "state/runs/budget_chain.h"

#include "state/runs/run_usage.h"
#include "state/runs/working_state.h"
#include "state/threads/goal_record.h"

namespace threadstore::state {
namespace {

/// Ends the walk in a damaged file's cycle.
constexpr std::size_t kMostLinks = 65;

BudgetDecision exceeded(RunReason reason, const RunHead& link) {
  return {.exceeded = reason, .limited_by = link.id};
}

void add_tokens(RunUsage& usage, const TokenUsage& tokens, const RunId& run) {
  usage.input_tokens =
      checked_sum(usage.input_tokens.value_or(0), tokens.input_tokens, "input_tokens", run);
  usage.output_tokens =
      checked_sum(usage.output_tokens.value_or(0), tokens.output_tokens, "output_tokens", run);
  usage.total_tokens =
      checked_sum(usage.total_tokens.value_or(0), tokens.total_tokens, "total_tokens", run);
  usage.responses_with_usage =
      checked_sum(usage.responses_with_usage, 1, "responses_with_usage", run);
}

}  // namespace

BudgetChain::BudgetChain(db::Session& session, const RunScope& scope, const RunHead& run)
    : session_(session), links_{run}, thread_(run.thread_id) {
  auto parent = run.lineage.parent_run_id;
  for (std::size_t depth = 1; parent && depth < kMostLinks; ++depth) {
    auto ancestor = find_head(session, scope, *parent);
    if (!ancestor) break;
    parent = ancestor->lineage.parent_run_id;
    thread_ = ancestor->thread_id;
    if (ancestor->lifecycle == RunLifecycle::active) links_.push_back(*std::move(ancestor));
  }
}

BudgetDecision BudgetChain::check_model_turn() const {
  for (const RunHead& link : links_) {
    if (link.budgets.max_total_tokens && link.usage.responses_without_usage > 0) {
      return exceeded(RunReason::token_usage_unavailable, link);
    }
  }
  for (const RunHead& link : links_) {
    if (link.budgets.max_total_tokens && link.usage.total_tokens &&
        *link.usage.total_tokens >= *link.budgets.max_total_tokens) {
      return exceeded(RunReason::total_tokens, link);
    }
  }
  const auto goal = thread_ ? find_goal(session_, *thread_) : std::nullopt;
  if (goal && goal->status == GoalStatus::active && goal->token_budget &&
      goal->tokens_used >= *goal->token_budget) {
    return {.exceeded = RunReason::total_tokens};
  }
  for (const RunHead& link : links_) {
    if (link.budgets.max_turns && link.usage.model_turns >= *link.budgets.max_turns) {
      return exceeded(RunReason::model_turns, link);
    }
  }
  return {};
}

BudgetDecision BudgetChain::check_tool_calls(std::int64_t count) const {
  for (const RunHead& link : links_) {
    const auto& limit = link.budgets.max_tool_calls;
    if (limit && (count > *limit || link.usage.tool_calls > *limit - count)) {
      return exceeded(RunReason::tool_calls, link);
    }
  }
  return {};
}

void BudgetChain::charge_model_turn(UnixMillis now) {
  for (RunHead& link : links_) {
    link.usage.model_turns = checked_sum(link.usage.model_turns, 1, "model_turns", link.id);
  }
  store({.model_turns = 1}, now);
}

void BudgetChain::charge_tool_call(UnixMillis now) {
  for (RunHead& link : links_) {
    link.usage.tool_calls = checked_sum(link.usage.tool_calls, 1, "tool_calls", link.id);
  }
  store({.tool_calls = 1}, now);
}

BudgetDecision BudgetChain::charge_response(const std::optional<TokenUsage>& usage,
                                            UnixMillis now) {
  BudgetDecision decision;
  for (RunHead& link : links_) {
    const auto& limit = link.budgets.max_total_tokens;
    if (usage) {
      add_tokens(link.usage, *usage, link.id);
      if (limit && *link.usage.total_tokens > *limit && decision.allowed()) {
        decision = exceeded(RunReason::total_tokens, link);
      }
    } else {
      link.usage.responses_without_usage =
          checked_sum(link.usage.responses_without_usage, 1, "responses_without_usage", link.id);
      if (limit && decision.allowed()) {
        decision = exceeded(RunReason::token_usage_unavailable, link);
      }
    }
  }
  RunUsage added{.responses_without_usage = usage ? 0 : 1};
  if (usage) {
    added = {.input_tokens = usage->input_tokens,
             .output_tokens = usage->output_tokens,
             .total_tokens = usage->total_tokens,
             .responses_with_usage = 1};
  }
  store(added, now);
  if (!usage) return decision;
  const BudgetDecision by_goal = charge_goal(*usage, now);
  return decision.allowed() ? by_goal : decision;
}

BudgetDecision BudgetChain::charge_goal(const TokenUsage& usage, UnixMillis now) {
  if (!thread_) return {};
  const auto goal = find_goal(session_, *thread_);
  // What was asked for while the goal drove is charged to it, also when it stopped at its budget.
  if (!goal || (goal->status != GoalStatus::active && goal->status != GoalStatus::budget_limited)) {
    return {};
  }
  const auto accrued =
      accrue_on_goal(session_, *thread_, {.tokens = usage.total_tokens, .when = now / 1000});
  if (!accrued || accrued->goal.status != GoalStatus::budget_limited) return {};
  return {.exceeded = RunReason::total_tokens};
}

void BudgetChain::store(const RunUsage& added, UnixMillis now) {
  store_usage(session_, links_.front().id, links_.front().usage);
  for (std::size_t above = 1; above < links_.size(); ++above) {
    store_usage_above(session_, links_[above].id, links_[above].usage, added);
    refresh_working_state(session_, links_[above], now);
  }
}

std::vector<std::string> BudgetChain::ancestors() const {
  std::vector<std::string> ids;
  for (const RunHead& link : links_) {
    if (&link != &links_.front()) ids.push_back(link.id.str());
  }
  return ids;
}

}  // namespace threadstore::state
