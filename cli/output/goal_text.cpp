#include "cli/output/goal_text.h"

#include <charconv>

#include "cli/terminal/text.h"
#include "threadstore/error.h"

namespace threadstore::cli {

std::string shown_status(const Goal& goal) {
  std::string word(to_word(goal.status));
  if (goal.pause_reason) word += " (" + std::string(to_word(*goal.pause_reason)) + ")";
  return word;
}

Tone tone_of(GoalStatus status) {
  switch (status) {
    case GoalStatus::active:
      return Tone::good;
    case GoalStatus::complete:
      return Tone::faint;
    case GoalStatus::blocked:
      return Tone::bad;
    case GoalStatus::paused:
    case GoalStatus::usage_limited:
    case GoalStatus::budget_limited:
      return Tone::warning;
  }
  return Tone::plain;
}

std::string tokens_text(const Goal& goal) {
  std::string text = std::to_string(goal.tokens_used);
  if (goal.token_budget) text += " of " + std::to_string(*goal.token_budget);
  return text;
}

std::string goal_text(const Goal& goal, const Style& style) {
  const std::string passes = std::to_string(goal.continuation_count);
  return style.paint(Tone::strong, escape_for_terminal(goal.objective)) + "\n" +
         style.paint(tone_of(goal.status), shown_status(goal)) + "  " + tokens_text(goal) +
         " tokens  " + std::to_string(goal.time_used_seconds) + " s  " + passes +
         (goal.continuation_count == 1 ? " pass\n" : " passes\n");
}

std::optional<std::int64_t> parse_budget(const std::string& given) {
  if (given == "none") return std::nullopt;
  std::int64_t tokens = 0;
  const char* const end = given.data() + given.size();
  const auto [rest, fault] = std::from_chars(given.data(), end, tokens);
  if (fault == std::errc() && rest == end && tokens >= 0) return tokens;
  throw Error(ErrorCode::invalid_argument,
              "a token budget is a whole number of 0 or more, or none, not '" + given + "'");
}

}  // namespace threadstore::cli
