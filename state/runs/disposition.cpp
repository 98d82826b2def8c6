#include "state/runs/disposition.h"

#include <limits>

#include "state/runs/run_record.h"
#include "state/runs/run_usage.h"

namespace threadstore::state {
namespace {

/// The deadline moves with every suspension. One beyond the end of time counts as past.
bool is_past_deadline(const RunHead& run, UnixMillis now) {
  if (!run.budgets.timeout_seconds) return false;
  constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();
  const std::int64_t start = bounded_sum(run.suspended_ms, run.created_at);
  if (*run.budgets.timeout_seconds > (highest - start) / 1000) return true;
  return now >= start + *run.budgets.timeout_seconds * 1000;
}

bool is_after(const std::optional<std::int64_t>& sequence, std::int64_t checkpoint) {
  return sequence && *sequence > checkpoint;
}

}  // namespace

bool budget_is_used_up(const RunHead& run) {
  const RunUsage& usage = run.usage;
  if (run.budgets.max_turns && usage.model_turns >= *run.budgets.max_turns) return true;
  if (run.budgets.max_total_tokens) {
    if (usage.responses_without_usage > 0) return true;
    if (usage.total_tokens.value_or(0) >= *run.budgets.max_total_tokens) return true;
  }
  return run.budgets.max_tool_calls && usage.tool_calls >= *run.budgets.max_tool_calls;
}

RecoveryDisposition classify(const RunHead& run, const RecoveryFacts& facts, UnixMillis now) {
  using enum RecoveryDisposition;
  if (run.outcome == RunOutcome::completed) return complete;
  if (run.lifecycle == RunLifecycle::suspended) return suspended;
  if (facts.unsafe_call) return reconciliation_required;
  if (!facts.checkpoint) return restart_required;
  if (is_after(facts.effect, *facts.checkpoint)) return reconciliation_required;
  if (is_after(facts.artifact, *facts.checkpoint)) return reconciliation_required;
  if (run.outcome == RunOutcome::limit_exceeded && !run.budget_raised) return restart_required;
  if (run.lineage.parent_run_id || facts.has_children) return restart_required;
  if (is_past_deadline(run, now)) return restart_required;
  if (budget_is_used_up(run)) return restart_required;
  return resume_eligible;
}

}  // namespace threadstore::state
