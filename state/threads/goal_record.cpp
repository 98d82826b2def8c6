#include "state/threads/goal_record.h"

#include <algorithm>
#include <string_view>

#include "state/threads/thread_record.h"
#include "threadstore/error.h"

namespace threadstore::state {
namespace {

bool is_fingerprint(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdefABCDEF") == text.npos;
}

/// The column holds a JSON string: the word in quotes.
std::string quoted(GoalPauseReason reason) { return '"' + std::string(to_word(reason)) + '"'; }

std::optional<GoalPauseReason> unquoted(std::string_view text) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return std::nullopt;
  return from_word<GoalPauseReason>(text.substr(1, text.size() - 2));
}

[[noreturn]] void throw_damaged(const Goal& goal, const std::string& fault) {
  throw Error(ErrorCode::damaged, "the goal of thread " + goal.thread_id.str() +
                                      " is damaged: " + fault + "; set a new goal or remove it");
}

}  // namespace

std::optional<std::string> stall_fault(const Goal& goal) {
  const std::int64_t count = goal.repeated_gap_count;
  if (!goal.last_gap_fingerprint) {
    if (count == 0 && !goal.last_gap_pass) return std::nullopt;
    return "repeated_gap_count and last_gap_pass are set without last_gap_fingerprint";
  }
  if (!is_fingerprint(*goal.last_gap_fingerprint)) {
    return "last_gap_fingerprint is not 64 hexadecimal digits";
  }
  if (count < 1 || count > kGapLimit) {
    return "repeated_gap_count is " + std::to_string(count) + ", not 1 to 3";
  }
  if (!goal.last_gap_pass) return "last_gap_pass is missing";
  const std::int64_t pass = *goal.last_gap_pass;
  if (pass > std::max<std::int64_t>(goal.continuation_count, 0)) {
    return "last_gap_pass " + std::to_string(pass) + " is beyond continuation_count " +
           std::to_string(goal.continuation_count);
  }
  if (count - 1 > pass) {
    return "repeated_gap_count " + std::to_string(count) + " is impossible at last_gap_pass " +
           std::to_string(pass);
  }
  return std::nullopt;
}

Goal read_goal(const db::Row& row) {
  Goal goal{
      .thread_id = row.get<ThreadId>(0),
      .goal_id = row.get<GoalId>(1),
      .objective = row.text(2),
      .status = from_word<GoalStatus>(row.view(3)).value_or(GoalStatus::paused),
      .token_budget = row.get<std::optional<std::int64_t>>(4),
      .tokens_used = row.integer(5),
      .time_used_seconds = row.integer(6),
      .created_at = row.integer(7),
      .updated_at = row.integer(8),
      .continuation_count = row.integer(9),
      .last_gap_fingerprint = row.get<std::optional<std::string>>(10),
      .repeated_gap_count = row.integer(11),
      .last_gap_pass = row.get<std::optional<std::int64_t>>(12),
      .pause_reason = {},
  };
  if (const auto fault = stall_fault(goal)) throw_damaged(goal, *fault);
  if (!row.is_null(13)) {
    goal.pause_reason = unquoted(row.view(13));
    if (!goal.pause_reason) throw_damaged(goal, "unknown pause_reason " + row.text(13));
  }
  if (goal.status == GoalStatus::active && goal.repeated_gap_count >= kGapLimit) {
    goal.status = GoalStatus::paused;
    goal.pause_reason = GoalPauseReason::no_progress;
  }
  return goal;
}

void check_goal(const Goal& goal) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::invalid_argument,
                "cannot store the goal of thread " + goal.thread_id.str() + ": " + why);
  };
  if (goal.goal_id.empty()) refuse("goal_id is empty");
  check_text(goal.goal_id.str(), "goal_id");
  check_text(goal.objective, "objective");
  if (goal.objective.empty()) refuse("the objective is empty");
  if (goal.token_budget.value_or(0) < 0) refuse("the token budget is negative");
  if (goal.tokens_used < 0) refuse("tokens_used is negative");
  if (goal.time_used_seconds < 0) refuse("time_used_seconds is negative");
  if (const auto fault = stall_fault(goal)) refuse(*fault);
}

void store_goal(db::Session& session, const Goal& goal) {
  std::optional<std::string> reason;
  if (goal.pause_reason) reason = quoted(*goal.pause_reason);
  session.run(
      R"(INSERT INTO thread_goals (thread_id, goal_id, objective, status, token_budget, tokens_used,
                                   time_used_seconds, created_at, updated_at, continuation_count,
                                   last_gap_fingerprint, repeated_gap_count, last_gap_pass,
                                   pause_reason)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (thread_id) DO UPDATE SET
           goal_id = excluded.goal_id, objective = excluded.objective, status = excluded.status,
           token_budget = excluded.token_budget, tokens_used = excluded.tokens_used,
           time_used_seconds = excluded.time_used_seconds, created_at = excluded.created_at,
           updated_at = excluded.updated_at, continuation_count = excluded.continuation_count,
           last_gap_fingerprint = excluded.last_gap_fingerprint,
           repeated_gap_count = excluded.repeated_gap_count,
           last_gap_pass = excluded.last_gap_pass, pause_reason = excluded.pause_reason)",
      {goal.thread_id, goal.goal_id, goal.objective, goal.status, goal.token_budget,
       goal.tokens_used, goal.time_used_seconds, goal.created_at, goal.updated_at,
       goal.continuation_count, goal.last_gap_fingerprint, goal.repeated_gap_count,
       goal.last_gap_pass, reason});
}

}  // namespace threadstore::state
