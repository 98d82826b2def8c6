#pragma once

#include <optional>
#include <string>

#include "state/db/row.h"
#include "state/db/session.h"
#include "threadstore/goals.h"

namespace threadstore::state {

/// The columns that `read_goal` expects, in its order.
inline constexpr const char* kGoalColumns =
    "thread_id, goal_id, objective, status, token_budget, tokens_used, time_used_seconds, "
    "created_at, updated_at, continuation_count, last_gap_fingerprint, repeated_gap_count, "
    "last_gap_pass, pause_reason";

/// Consecutive passes with the same gap after which a goal makes no progress.
inline constexpr std::int64_t kGapLimit = 3;

/// What is wrong with the goal's stall history; nothing when it is valid.
std::optional<std::string> stall_fault(const Goal& goal);

/// Reads and checks a row. Throws `damaged`, naming the thread and the fault.
Goal read_goal(const db::Row& row);

/// Throws `invalid_argument` when the goal must not be stored.
void check_goal(const Goal& goal);

/// The thread's goal; nothing when it has none, or is being removed.
std::optional<Goal> find_goal(db::Session& session, const ThreadId& thread);

/// The work of `Goals::record_usage` inside a write transaction, for those who charge a goal along
/// with something else. `usage.when` must be set.
std::optional<AccruedUsage> accrue_on_goal(db::Session& session, const ThreadId& thread,
                                           const GoalUsage& usage);

/// Inserts or replaces the row of a checked goal.
void store_goal(db::Session& session, const Goal& goal);

}  // namespace threadstore::state
