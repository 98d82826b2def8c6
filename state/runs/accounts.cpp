#include <nlohmann/json.hpp>

#include "state/runs/budget_chain.h"
#include "state/runs/event_log.h"
#include "state/runs/run_usage.h"
#include "threadstore/error.h"
#include "threadstore/run_budgets.h"

namespace threadstore {
namespace {

void check_tokens(const std::optional<TokenUsage>& usage) {
  if (!usage) return;
  if (usage->input_tokens >= 0 && usage->output_tokens >= 0 && usage->total_tokens >= 0) return;
  throw Error(ErrorCode::invalid_argument, "token counts must not be negative");
}

/// The caller's payload stands in the event as it was given, behind what the store adds.
std::string model_event(const state::BudgetChain& chain, const state::Payload* usage,
                        const std::string& payload) {
  state::Payload added = state::Payload::object();
  if (usage) added["usage"] = *usage;
  if (auto ancestors = chain.ancestors(); !ancestors.empty()) {
    added["charged"] = std::move(ancestors);
  }
  std::string text = added.dump();
  text.pop_back();
  return text + (added.empty() ? "" : ",") + R"("payload":)" + payload + '}';
}

void check_raise(const RunId& run, const char* name, std::optional<std::int64_t> from,
                 std::optional<std::int64_t> to) {
  if (!to || (from && *to >= *from)) return;
  state::throw_run_conflict("raise the budgets of", run,
                            std::string(name) + " would go down from " +
                                (from ? std::to_string(*from) : std::string("no limit")) + " to " +
                                std::to_string(*to));
}

}  // namespace

BudgetDecision RunAccounts::request_model(const RunId& run, const std::string& payload) {
  state::check_content(payload, "the payload", scope_->most());
  return scope_->write_shared(payload.size(), [&](db::Session& session) {
    const auto head = state::require_active(session, *scope_, run, "ask the model for");
    state::BudgetChain chain(session, *scope_, head);
    const BudgetDecision decision = chain.check_model_turn();
    if (!decision.allowed()) return decision;
    const UnixMillis now = scope_->now();
    chain.charge_model_turn(now);
    state::append_event_text(session, run, "model.requested", model_event(chain, nullptr, payload),
                             now);
    return decision;
  });
}

BudgetDecision RunAccounts::record_response(const RunId& run,
                                            const std::optional<TokenUsage>& usage,
                                            const std::string& payload) {
  state::check_content(payload, "the payload", scope_->most());
  check_tokens(usage);
  return scope_->write_shared(payload.size(), [&](db::Session& session) {
    const auto head = state::require_active(session, *scope_, run, "record a response of");
    state::BudgetChain chain(session, *scope_, head);
    const UnixMillis now = scope_->now();
    const BudgetDecision decision = chain.charge_response(usage, now);
    state::Payload tokens = nullptr;
    if (usage) {
      tokens = {{"input_tokens", usage->input_tokens},
                {"output_tokens", usage->output_tokens},
                {"total_tokens", usage->total_tokens}};
    }
    state::append_event_text(session, run, "model.responded", model_event(chain, &tokens, payload),
                             now);
    return decision;
  });
}

BudgetDecision RunAccounts::check_model_turn(const RunId& run) const {
  return scope_->read([&](db::Session& session) {
    const auto head = state::require_active(session, *scope_, run, "check the budgets of");
    return state::BudgetChain(session, *scope_, head).check_model_turn();
  });
}

BudgetDecision RunAccounts::check_tool_calls(const RunId& run, std::int64_t count) const {
  if (count < 0) {
    throw Error(ErrorCode::invalid_argument, "a number of tool calls must not be negative");
  }
  return scope_->read([&](db::Session& session) {
    const auto head = state::require_active(session, *scope_, run, "check the budgets of");
    return state::BudgetChain(session, *scope_, head).check_tool_calls(count);
  });
}

Run RunAccounts::raise(const RunId& run, const RunBudgets& budgets) {
  state::check_budgets(budgets);
  return scope_->write([&](db::Session& session) {
    const auto head = state::require_run(session, *scope_, run);
    const std::string doing = "raise the budgets of";
    if (head.outcome == RunOutcome::completed) {
      state::throw_run_conflict(doing, run, state::describe_state(head));
    }
    const RunBudgets& old = head.budgets;
    check_raise(run, "max_turns", old.max_turns, budgets.max_turns);
    check_raise(run, "timeout_seconds", old.timeout_seconds, budgets.timeout_seconds);
    check_raise(run, "max_total_tokens", old.max_total_tokens, budgets.max_total_tokens);
    check_raise(run, "max_tool_calls", old.max_tool_calls, budgets.max_tool_calls);
    check_raise(run, "max_context_bytes", old.max_context_bytes, budgets.max_context_bytes);
    if (budgets == old) state::throw_run_conflict(doing, run, "they are as given already");
    state::store_budgets(session, run, budgets);
    session.run("UPDATE runs SET budget_raised = 1 WHERE id = ?", {run});
    state::append_event(session, run, "budget.raised",
                        {{"from", state::budgets_json(old)}, {"to", state::budgets_json(budgets)}},
                        scope_->now());
    return state::get_run(session, *scope_, run);
  });
}

}  // namespace threadstore
