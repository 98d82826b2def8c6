#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "threadstore/enum_names.h"
#include "threadstore/ids.h"
#include "threadstore/page.h"
#include "threadstore/time.h"

namespace threadstore {

namespace state {
struct StoreContext;
}

enum class GoalStatus { active, paused, blocked, usage_limited, budget_limited, complete };

/// An unknown word reads as `paused`: a damaged word must never restart a self-driving goal.
template <>
struct EnumNames<GoalStatus> {
  static constexpr std::array table{
      std::pair{GoalStatus::active, std::string_view("active")},
      std::pair{GoalStatus::paused, std::string_view("paused")},
      std::pair{GoalStatus::blocked, std::string_view("blocked")},
      std::pair{GoalStatus::usage_limited, std::string_view("usage_limited")},
      std::pair{GoalStatus::budget_limited, std::string_view("budget_limited")},
      std::pair{GoalStatus::complete, std::string_view("complete")},
  };
};

enum class GoalPauseReason { user, backoff, no_progress, usage_limit, budget_limit };

/// An unknown word is a damaged record.
template <>
struct EnumNames<GoalPauseReason> {
  static constexpr std::array table{
      std::pair{GoalPauseReason::user, std::string_view("user")},
      std::pair{GoalPauseReason::backoff, std::string_view("backoff")},
      std::pair{GoalPauseReason::no_progress, std::string_view("no_progress")},
      std::pair{GoalPauseReason::usage_limit, std::string_view("usage_limit")},
      std::pair{GoalPauseReason::budget_limit, std::string_view("budget_limit")},
  };
};

/// What a thread works towards on its own: a row of `thread_goals`, one per thread.
///
/// The stall history says how often in a row a pass ended with the same gap between what is and
/// what should be. Either it is empty (no fingerprint, count 0, no pass), or the fingerprint has
/// exactly 64 hexadecimal digits, the count is 1 to 3, `last_gap_pass` <= `continuation_count`
/// and `repeated_gap_count` <= `last_gap_pass` + 1. Anything else is refused on writing and
/// `damaged` on reading.
struct Goal {
  ThreadId thread_id{};
  GoalId goal_id{};
  std::string objective{};
  GoalStatus status = GoalStatus::active;
  std::optional<std::int64_t> token_budget{};  ///< absent: unlimited
  std::int64_t tokens_used = 0;
  std::int64_t time_used_seconds = 0;
  UnixSeconds created_at = 0;
  UnixSeconds updated_at = 0;
  std::int64_t continuation_count = 0;  ///< passes that the goal began by itself
  std::optional<std::string> last_gap_fingerprint{};
  std::int64_t repeated_gap_count = 0;
  std::optional<std::int64_t> last_gap_pass{};
  std::optional<GoalPauseReason> pause_reason{};

  friend bool operator==(const Goal&, const Goal&) = default;
};

struct NewGoal {
  std::string objective{};
  std::optional<std::int64_t> token_budget{};  ///< absent: unlimited; not negative
  std::optional<GoalId> goal_id{};             ///< default: a UUIDv7
};

/// What one pass cost.
struct GoalUsage {
  std::int64_t tokens = 0;            ///< not negative
  std::int64_t seconds = 0;           ///< not negative
  std::optional<UnixSeconds> when{};  ///< default: now
};

struct AccruedUsage {
  Goal goal{};
  /// This accrual passed the budget and turned the goal `budget_limited`. Of all processes that
  /// accrue on one goal exactly one is told so.
  bool budget_passed = false;
};

struct GoalFilter {
  std::optional<GoalStatus> status{};  ///< as goals read, so `paused` finds unknown words too
  std::size_t limit = 100;             ///< 1 to 1,000
  std::optional<std::string> after{};  ///< a page's `next`
};

struct DamagedGoal {
  ThreadId thread_id{};
  std::string why{};

  friend bool operator==(const DamagedGoal&, const DamagedGoal&) = default;
};

struct GoalPage : Page<Goal> {
  std::vector<DamagedGoal> damaged{};  ///< rows in this part of the list that could not be read
};

/// The goals of a store's threads. A light handle like `Threads`; every call is atomic. A stored
/// goal that breaks the rules above is `damaged`, naming thread and fault.
///
/// A goal that is stored as `active` with a count of 3 reads as `paused` for `no_progress`: its
/// process died between counting and pausing.
class Goals {
 public:
  /// Gives the thread a new active goal in place of the one that it had; the counters start at 0.
  Goal set(const ThreadId& thread, const NewGoal& goal);

  /// Inserts or replaces the whole row, for the format's sake: prefer the calls below, which keep
  /// what other processes count. `invalid_argument` for a negative counter or a bad stall history.
  Goal upsert(const Goal& goal);

  /// Adds to the counters. An active goal whose tokens then exceed its budget becomes
  /// `budget_limited` in the same statement. Nothing when the thread has no goal. `conflict` when a
  /// counter would overflow.
  std::optional<AccruedUsage> record_usage(const ThreadId& thread, const GoalUsage& usage);

  /// Counts one pass that the goal began by itself, whatever its status.
  std::optional<Goal> record_continuation(const ThreadId& thread,
                                          std::optional<UnixSeconds> when = {});

  /// Says which gap the current pass ended with: the same as the last pass counts up, another
  /// starts at 1, a second call in one pass counts once. The third in a row pauses an active goal
  /// for `no_progress` in the same commit. The fingerprint has 64 hexadecimal digits.
  std::optional<Goal> record_gap(const ThreadId& thread, const std::string& fingerprint,
                                 std::optional<UnixSeconds> when = {});

  /// Throws `not_found` when the thread has no goal, `conflict` when it is complete.
  Goal pause(const ThreadId& thread, GoalPauseReason reason = GoalPauseReason::user);

  /// Makes a stopped goal active again: forgets the pause reason and the stall history. `conflict`
  /// when it is complete, or when its budget is passed (set `token_budget` higher, or clear it).
  Goal resume(const ThreadId& thread);

  /// Any other move: `complete`, `blocked`, `usage_limited` … Clears the pause reason.
  Goal set_status(const ThreadId& thread, GoalStatus status);
  Goal set_token_budget(const ThreadId& thread, std::optional<std::int64_t> tokens);

  std::optional<Goal> find(const ThreadId& thread) const;
  Goal get(const ThreadId& thread) const;

  /// Goals of all threads, most recently updated first. Damaged ones are named apart.
  GoalPage list(const GoalFilter& filter = {}) const;

  /// Says whether there was one.
  bool remove(const ThreadId& thread);

 private:
  friend class StateStore;
  explicit Goals(std::shared_ptr<state::StoreContext> context);
  std::shared_ptr<state::StoreContext> context_;
};

}  // namespace threadstore
