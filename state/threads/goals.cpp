#include "threadstore/goals.h"

#include <functional>
#include <limits>

#include "base/ids.h"
#include "state/db/session.h"
#include "state/store_context.h"
#include "state/threads/goal_record.h"
#include "state/threads/keyset_cursor.h"
#include "state/threads/thread_record.h"
#include "threadstore/error.h"

namespace threadstore {
namespace {

using state::read_goal;

// A thread that is being removed has no goal any more.
const std::string kSelect = std::string("SELECT ") + state::kGoalColumns +
                            " FROM thread_goals WHERE EXISTS (SELECT 1 FROM threads"
                            " WHERE threads.id = thread_goals.thread_id AND " +
                            state::thread_is_visible + ")";
const std::string kReturning = std::string(" RETURNING ") + state::kGoalColumns;

/// The status word that `read_goal` makes of a row, as SQL.
constexpr const char* kStatusAsRead = R"(
  CASE WHEN status = 'active' AND repeated_gap_count >= 3 THEN 'paused'
       WHEN status IN ('active', 'blocked', 'usage_limited', 'budget_limited', 'complete')
         THEN status
       ELSE 'paused' END)";

Goal get_in(db::Session& session, const ThreadId& thread) {
  state::require_thread(session, thread);
  if (auto goal = state::find_goal(session, thread)) return *std::move(goal);
  throw Error(ErrorCode::not_found, "thread " + thread.str() + " has no goal");
}

void refuse_complete(const Goal& goal, const std::string& verb) {
  if (goal.status != GoalStatus::complete) return;
  throw Error(ErrorCode::conflict, "cannot " + verb + " the goal of thread " +
                                       goal.thread_id.str() + ": it is complete; set a new one");
}

void refuse_overflow(const Goal& goal, std::int64_t value, std::int64_t delta, const char* what) {
  if (value <= std::numeric_limits<std::int64_t>::max() - delta) return;
  throw Error(ErrorCode::conflict, std::string("cannot add ") + std::to_string(delta) + " to " +
                                       what + " of the goal of thread " + goal.thread_id.str() +
                                       ": the sum does not fit 64 bits");
}

// The write lock is held from before the read: nothing that others counted is lost.
Goal change(state::StoreContext& context, const ThreadId& thread,
            const std::function<void(Goal&)>& edit) {
  return context.write([&](db::Session& session) {
    Goal goal = get_in(session, thread);
    edit(goal);
    goal.updated_at = std::max(goal.updated_at, context.now_seconds());
    state::check_goal(goal);
    state::store_goal(session, goal);
    return goal;
  });
}

}  // namespace

std::optional<Goal> state::find_goal(db::Session& session, const ThreadId& thread) {
  return session.one(kSelect + " AND thread_id = ?", {thread}, read_goal);
}

std::optional<AccruedUsage> state::accrue_on_goal(db::Session& session, const ThreadId& thread,
                                                  const GoalUsage& usage) {
  const auto before = state::find_goal(session, thread);
  if (!before) return std::nullopt;
  refuse_overflow(*before, before->tokens_used, usage.tokens, "tokens_used");
  refuse_overflow(*before, before->time_used_seconds, usage.seconds, "time_used_seconds");
  // The status decides on the row's own values: only a goal that reads as active can pass its
  // budget. An unknown word becomes what it reads as, since the table's CHECK forbids it.
  auto after = session.one(
      R"(UPDATE thread_goals SET
           tokens_used = tokens_used + ?1,
           time_used_seconds = time_used_seconds + ?2,
           updated_at = CASE WHEN updated_at > ?3 THEN updated_at ELSE ?3 END,
           status = CASE WHEN status = 'active' AND repeated_gap_count < 3
                              AND tokens_used + ?1 > token_budget THEN 'budget_limited'
                         WHEN status = 'active' THEN status
                         ELSE )" +
          std::string(kStatusAsRead) + " END WHERE thread_id = ?4" + kReturning,
      {usage.tokens, usage.seconds, usage.when, thread}, read_goal);
  const bool passed =
      before->status == GoalStatus::active && after->status == GoalStatus::budget_limited;
  return AccruedUsage{.goal = *std::move(after), .budget_passed = passed};
}

Goals::Goals(std::shared_ptr<state::StoreContext> context) : context_(std::move(context)) {}

Goal Goals::set(const ThreadId& thread, const NewGoal& goal) {
  const UnixSeconds now = context_->now_seconds();
  Goal row;
  row.thread_id = thread;
  row.goal_id = goal.goal_id.value_or(GoalId(base::make_uuid_v7(context_->now_millis())));
  row.objective = goal.objective;
  row.token_budget = goal.token_budget;
  row.created_at = now;
  row.updated_at = now;
  return upsert(row);
}

Goal Goals::upsert(const Goal& goal) {
  state::check_goal(goal);
  return context_->write([&](db::Session& session) {
    state::require_thread(session, goal.thread_id);
    state::store_goal(session, goal);
    return get_in(session, goal.thread_id);
  });
}

std::optional<AccruedUsage> Goals::record_usage(const ThreadId& thread, const GoalUsage& usage) {
  if (usage.tokens < 0 || usage.seconds < 0) {
    throw Error(ErrorCode::invalid_argument, "cannot record usage of the goal of thread " +
                                                 thread.str() +
                                                 ": tokens and seconds must not be negative");
  }
  GoalUsage dated = usage;
  if (!dated.when) dated.when = context_->now_seconds();
  return context_->write(
      [&](db::Session& session) { return state::accrue_on_goal(session, thread, dated); });
}

std::optional<Goal> Goals::record_continuation(const ThreadId& thread,
                                               std::optional<UnixSeconds> when) {
  return context_->write([&](db::Session& session) -> std::optional<Goal> {
    const auto before = state::find_goal(session, thread);
    if (!before) return std::nullopt;
    refuse_overflow(*before, before->continuation_count, 1, "continuation_count");
    return session.one(R"(UPDATE thread_goals SET
                            continuation_count = continuation_count + 1,
                            updated_at = CASE WHEN updated_at > ?1 THEN updated_at ELSE ?1 END
                          WHERE thread_id = ?2)" +
                           kReturning,
                       {when.value_or(context_->now_seconds()), thread}, read_goal);
  });
}

std::optional<Goal> Goals::record_gap(const ThreadId& thread, const std::string& fingerprint,
                                      std::optional<UnixSeconds> when) {
  const UnixSeconds now = when.value_or(context_->now_seconds());
  return context_->write([&](db::Session& session) -> std::optional<Goal> {
    auto goal = state::find_goal(session, thread);
    if (!goal) return std::nullopt;
    const std::int64_t pass = std::max<std::int64_t>(goal->continuation_count, 0);
    const bool same = goal->last_gap_fingerprint == fingerprint;
    if (!same) goal->repeated_gap_count = 1;
    if (same && goal->last_gap_pass < pass) {
      goal->repeated_gap_count = std::min(goal->repeated_gap_count + 1, state::kGapLimit);
    }
    goal->last_gap_fingerprint = fingerprint;
    goal->last_gap_pass = pass;
    goal->updated_at = std::max(goal->updated_at, now);
    if (goal->status == GoalStatus::active && goal->repeated_gap_count == state::kGapLimit) {
      goal->status = GoalStatus::paused;
      goal->pause_reason = GoalPauseReason::no_progress;
    }
    state::check_goal(*goal);
    state::store_goal(session, *goal);
    return goal;
  });
}

Goal Goals::pause(const ThreadId& thread, GoalPauseReason reason) {
  return change(*context_, thread, [&](Goal& goal) {
    refuse_complete(goal, "pause");
    goal.status = GoalStatus::paused;
    goal.pause_reason = reason;
  });
}

Goal Goals::resume(const ThreadId& thread) {
  return change(*context_, thread, [](Goal& goal) {
    refuse_complete(goal, "resume");
    if (goal.token_budget && goal.tokens_used > *goal.token_budget) {
      throw Error(ErrorCode::conflict, "cannot resume the goal of thread " + goal.thread_id.str() +
                                           ": it used " + std::to_string(goal.tokens_used) +
                                           " tokens of " + std::to_string(*goal.token_budget) +
                                           "; give it a larger budget first");
    }
    goal.status = GoalStatus::active;
    goal.pause_reason.reset();
    goal.last_gap_fingerprint.reset();
    goal.repeated_gap_count = 0;
    goal.last_gap_pass.reset();
  });
}

Goal Goals::set_status(const ThreadId& thread, GoalStatus status) {
  if (status == GoalStatus::active) return resume(thread);
  return change(*context_, thread, [&](Goal& goal) {
    goal.status = status;
    goal.pause_reason.reset();
  });
}

Goal Goals::set_token_budget(const ThreadId& thread, std::optional<std::int64_t> tokens) {
  return change(*context_, thread, [&](Goal& goal) { goal.token_budget = tokens; });
}

std::optional<Goal> Goals::find(const ThreadId& thread) const {
  return context_->read([&](db::Session& session) { return state::find_goal(session, thread); });
}

Goal Goals::get(const ThreadId& thread) const {
  return context_->read([&](db::Session& session) { return get_in(session, thread); });
}

GoalPage Goals::list(const GoalFilter& filter) const {
  state::check_limit(filter.limit);
  const state::KeysetCursor after = state::KeysetCursor::parse(filter.after);
  return context_->read([&](db::Session& session) {
    GoalPage page;
    state::KeysetCursor last;
    std::size_t rows = 0;
    session.each(kSelect + " AND (updated_at, thread_id) < (?1, ?2) AND (?3 IS NULL OR ?3 = " +
                     kStatusAsRead + ") ORDER BY updated_at DESC, thread_id DESC",
                 {after.at, after.id, filter.status}, [&](const db::Row& row) {
                   if (rows++ == filter.limit) {
                     page.next = last.str();
                     return false;
                   }
                   last = {row.integer(8), 0, row.text(0)};
                   try {
                     page.items.push_back(read_goal(row));
                   } catch (const Error& error) {
                     page.damaged.push_back({row.get<ThreadId>(0), error.what()});
                   }
                   return true;
                 });
    return page;
  });
}

bool Goals::remove(const ThreadId& thread) {
  return context_->write([&](db::Session& session) {
    state::require_thread(session, thread);
    return session.run("DELETE FROM thread_goals WHERE thread_id = ?", {thread}) > 0;
  });
}

}  // namespace threadstore
