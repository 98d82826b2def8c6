#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/terminal/style.h"
#include "threadstore/goals.h"

namespace threadstore::cli {

/// "active", "paused (no_progress)".
std::string shown_status(const Goal& goal);

Tone tone_of(GoalStatus status);

/// "1500 of 100000", or "1500" without a budget.
std::string tokens_text(const Goal& goal);

/// A goal for people: objective, status, what it used. Ends with a line break.
std::string goal_text(const Goal& goal, const Style& style);

/// A whole number, or `none` for no budget. Throws `invalid_argument`.
std::optional<std::int64_t> parse_budget(const std::string& given);

}  // namespace threadstore::cli
