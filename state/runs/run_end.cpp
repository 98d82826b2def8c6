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

}  // namespace

std::string_view legacy_status(const Run& run) {
  if (run.lifecycle == RunLifecycle::active) return "running";
  if (run.outcome == RunOutcome::completed || run.outcome == RunOutcome::cancelled) {
    return to_word(*run.outcome);
  }
  return "failed";
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

}  // namespace threadstore
