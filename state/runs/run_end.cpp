#include <algorithm>
#include <array>

#include "threadstore/error.h"
#include "threadstore/run_record.h"

namespace threadstore {
namespace {

RunReason checked(RunReason reason, RunOutcome outcome) {
  if (outcome_of(reason) == outcome) return reason;
  throw Error(ErrorCode::invalid_argument, "the reason " + std::string(to_word(reason)) +
                                               " does not belong to the outcome " +
                                               std::string(to_word(outcome)));
}

/// The words of a step trace and what they mean. The first of a reason is the word that a run gets
/// which stopped without one.
constexpr std::array kOutcomeWords{
    std::pair{std::string_view("success"), RunReason::final_response},
    std::pair{std::string_view("awaiting_approval"), RunReason::approval_required},
    std::pair{std::string_view("denied"), RunReason::permission_denied},
    std::pair{std::string_view("step_cap_reached"), RunReason::model_turns},
    std::pair{std::string_view("time_budget_exceeded"), RunReason::duration},
    std::pair{std::string_view("cost_budget_exceeded"), RunReason::total_tokens},
    std::pair{std::string_view("budget_ceiling_reached"), RunReason::total_tokens},
    std::pair{std::string_view("escalated"), RunReason::model_error},
};

}  // namespace

std::string_view legacy_status(const Run& run) {
  if (run.lifecycle == RunLifecycle::active) return "running";
  if (run.outcome == RunOutcome::completed || run.outcome == RunOutcome::cancelled) {
    return to_word(*run.outcome);
  }
  return "failed";
}

RunStatus run_status(const Run& run) {
  switch (run.lifecycle) {
    case RunLifecycle::active:
      return RunStatus::running;
    case RunLifecycle::suspended:
      return RunStatus::paused;
    case RunLifecycle::terminal:
      break;
  }
  return run.outcome == RunOutcome::completed ? RunStatus::completed : RunStatus::failed;
}

std::optional<std::string> outcome_word(const Run& run) {
  if (!run.outcome) return std::nullopt;
  if (run.outcome_text) return run.outcome_text;
  const auto* found =
      std::find_if(kOutcomeWords.begin(), kOutcomeWords.end(),
                   [&](const auto& entry) { return entry.second == run.reason_code; });
  if (found != kOutcomeWords.end()) return std::string(found->first);
  return std::string(run.reason_code ? to_word(*run.reason_code) : to_word(*run.outcome));
}

RunEnd RunEnd::completed(std::string output) {
  return {.reason = RunReason::final_response, .output = std::move(output)};
}

RunEnd RunEnd::failed(std::string error, RunReason reason, std::optional<std::string> detail) {
  return {.reason = checked(reason, RunOutcome::failed),
          .text = std::move(error),
          .detail = std::move(detail)};
}

RunEnd RunEnd::cancelled() { return {.reason = RunReason::cancellation_requested}; }

RunEnd RunEnd::blocked(RunReason reason, std::string message) {
  return {.reason = checked(reason, RunOutcome::blocked), .text = std::move(message)};
}

RunEnd RunEnd::needs_user_input(RunReason reason, std::string question) {
  return {.reason = checked(reason, RunOutcome::needs_user_input), .text = std::move(question)};
}

RunEnd RunEnd::limit_exceeded(RunReason reason) {
  return {.reason = checked(reason, RunOutcome::limit_exceeded)};
}

RunEnd RunEnd::from_word(const std::string& word) {
  const auto* found = std::find_if(kOutcomeWords.begin(), kOutcomeWords.end(),
                                   [&](const auto& entry) { return entry.first == word; });
  const RunReason reason = found == kOutcomeWords.end() ? RunReason::legacy_failure : found->second;
  RunEnd end{.reason = reason, .outcome_text = word};
  if (outcome_of(reason) == RunOutcome::failed) end.text = word;
  if (reason == RunReason::approval_required) end.text = "a decision is awaited";
  return end;
}

}  // namespace threadstore
