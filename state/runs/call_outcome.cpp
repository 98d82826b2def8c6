#include "state/runs/call_outcome.h"

#include <algorithm>

#include "state/runs/run_json.h"
#include "threadstore/error.h"

namespace threadstore {

CallOutcome CallOutcome::completed(std::string result) { return {.result = std::move(result)}; }

CallOutcome CallOutcome::failed(std::string message) {
  return {.outcome_class = CallOutcomeClass::terminal_error, .message = std::move(message)};
}

CallOutcome CallOutcome::denied(std::string message) {
  return {.outcome_class = CallOutcomeClass::denied, .message = std::move(message)};
}

CallOutcome CallOutcome::recoverable(std::string code, std::string message, std::string observation,
                                     std::string observation_text, std::string repetition_key) {
  return {.outcome_class = CallOutcomeClass::recoverable_error,
          .result = std::move(observation),
          .result_content = std::move(observation_text),
          .message = std::move(message),
          .code = std::move(code),
          .repetition_key = std::move(repetition_key)};
}

CallOutcome CallOutcome::terminal(std::string code, std::string message) {
  return {.outcome_class = CallOutcomeClass::terminal_error,
          .message = std::move(message),
          .code = std::move(code)};
}

CallOutcome CallOutcome::uncertain(std::string code, std::string message) {
  return {.outcome_class = CallOutcomeClass::uncertain_side_effect,
          .message = std::move(message),
          .code = std::move(code)};
}

namespace state {
namespace {

bool is_code(const std::string& code) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !code.empty() && code.size() <= 64 && code[0] >= 'a' && code[0] <= 'z' &&
         std::all_of(code.begin(), code.end(), allowed);
}

}  // namespace

CallStep step_of(CallOutcomeClass outcome) {
  switch (outcome) {
    case CallOutcomeClass::completed:
      return {CallStatus::started, CallStatus::completed, "tool.completed"};
    case CallOutcomeClass::denied:
      return {CallStatus::requested, CallStatus::denied, "tool.denied"};
    case CallOutcomeClass::recoverable_error:
      return {CallStatus::started, CallStatus::failed, "tool.recoverable_error"};
    case CallOutcomeClass::terminal_error:
    case CallOutcomeClass::uncertain_side_effect:
      return {CallStatus::started, CallStatus::failed, "tool.failed"};
    case CallOutcomeClass::cancelled:
    case CallOutcomeClass::interrupted:
      break;
  }
  throw Error(ErrorCode::invalid_argument, "a call does not end as " +
                                               std::string(to_word(outcome)) +
                                               " by itself: finish or cancel its run");
}

void check_outcome(const CallOutcome& outcome, std::size_t most) {
  step_of(outcome.outcome_class);
  if (outcome.result) check_content(*outcome.result, "the result", most);
  if (outcome.result_content) check_text_size(*outcome.result_content, "the result's text", most);
  check_text_size(outcome.message, "the message", most);
  if (outcome.code) {
    check_words(outcome.message, "the message", 4096);
    if (!is_code(*outcome.code)) {
      throw Error(ErrorCode::invalid_argument,
                  "'" + *outcome.code +
                      "' is not an error code: a lower-case letter, then up to 63 of a-z, 0-9, _");
    }
  }
  if (outcome.repetition_key) check_words(*outcome.repetition_key, "the repetition key", 1024);
}

}  // namespace state

}  // namespace threadstore
