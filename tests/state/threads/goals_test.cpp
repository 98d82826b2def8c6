#include "threadstore/goals.h"

#include "tests/state/threads/records_test.h"

namespace threadstore::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kGap(64, 'a');

class GoalsTest : public RecordsTest {
 protected:
  /// Every field distinct from every other.
  Goal full_goal() const {
    return {.thread_id = thread,
            .goal_id = GoalId("g"),
            .objective = "ship it",
            .status = GoalStatus::paused,
            .token_budget = 1000,
            .tokens_used = 11,
            .time_used_seconds = 12,
            .created_at = 13,
            .updated_at = 14,
            .continuation_count = 7,
            .last_gap_fingerprint = kGap,
            .repeated_gap_count = 2,
            .last_gap_pass = 5,
            .pause_reason = GoalPauseReason::backoff};
  }

  /// The error of reading a goal whose row another program changed.
  std::string read_after(const std::string& assignments) {
    goals.upsert(full_goal());
    other.run("PRAGMA ignore_check_constraints=ON");
    other.run("UPDATE thread_goals SET " + assignments);
    return error_of([&] { goals.find(thread); });
  }

  std::string write_error(const std::function<void(Goal&)>& change) {
    Goal goal = full_goal();
    change(goal);
    return error_of([&] { goals.upsert(goal); });
  }

  ThreadId thread = make_thread("t1");
  Goals goals = store.goals();
};

TEST_F(GoalsTest, AnUpsertedGoalReadsBackEqual) {
  EXPECT_EQ(goals.upsert(full_goal()), full_goal());
  EXPECT_EQ(goals.get(thread), full_goal());
  EXPECT_EQ(other.ask("SELECT pause_reason FROM thread_goals"), "\"backoff\"");
}

TEST_F(GoalsTest, SetReplacesTheGoalWithFreshCounters) {
  goals.upsert(full_goal());
  const Goal goal = goals.set(thread, {.objective = "another", .token_budget = 5});
  EXPECT_EQ(goal, (Goal{.thread_id = thread,
                        .goal_id = goal.goal_id,
                        .objective = "another",
                        .token_budget = 5,
                        .created_at = seconds,
                        .updated_at = seconds}));
  EXPECT_NE(goal.goal_id.str(), "g");
}

TEST_F(GoalsTest, AMissingThreadIsNamed) {
  EXPECT_THAT(error_of([&] { goals.set(ThreadId("none"), {.objective = "o"}); }),
              AllOf(StartsWith("not_found"), HasSubstr("none")));
  EXPECT_EQ(goals.find(ThreadId("none")), std::nullopt);
}

TEST_F(GoalsTest, InvalidGoalsAreNotStored) {
  const auto refused = StartsWith("invalid_argument");
  EXPECT_THAT(write_error([](Goal& g) { g.objective.clear(); }), refused);
  EXPECT_THAT(write_error([](Goal& g) { g.token_budget = -1; }), refused);
  EXPECT_THAT(write_error([](Goal& g) { g.last_gap_fingerprint.reset(); }), refused);
  EXPECT_THAT(write_error([](Goal& g) { g.last_gap_fingerprint = std::string(63, 'a'); }), refused);
  EXPECT_THAT(write_error([](Goal& g) { g.last_gap_fingerprint = std::string(64, 'g'); }), refused);
  EXPECT_THAT(write_error([](Goal& g) { g.repeated_gap_count = 0; }), refused);
  EXPECT_THAT(write_error([](Goal& g) { g.repeated_gap_count = 4; }), refused);
  EXPECT_THAT(write_error([](Goal& g) { g.last_gap_pass.reset(); }), refused);
  EXPECT_THAT(write_error([](Goal& g) { g.last_gap_pass = 8; }), refused);
  EXPECT_THAT(write_error([](Goal& g) { g.last_gap_pass = 0; }), refused);
  EXPECT_THAT(write_error([](Goal& g) { g.continuation_count = -1; }), refused);
  EXPECT_EQ(goals.find(thread), std::nullopt);
  EXPECT_EQ(write_error([](Goal& g) { g.last_gap_fingerprint = std::string(64, 'F'); }), "none");
}

TEST_F(GoalsTest, EachForbiddenStallHistoryInTheDatabaseIsDamage) {
  for (const char* damage :
       {"last_gap_fingerprint = NULL", "repeated_gap_count = 0", "repeated_gap_count = 4",
        "repeated_gap_count = -1", "last_gap_pass = NULL", "last_gap_pass = 8", "last_gap_pass = 0",
        "last_gap_pass = -1", "continuation_count = -3", "last_gap_fingerprint = 'abc'",
        "last_gap_fingerprint = replace(last_gap_fingerprint,'a','x')",
        "last_gap_fingerprint = NULL, repeated_gap_count = 0",
        "last_gap_fingerprint = NULL, last_gap_pass = NULL", "pause_reason = 'backoff'",
        "pause_reason = '\"boredom\"'", "pause_reason = '7'", "pause_reason = '\"'"}) {
    EXPECT_THAT(read_after(damage), AllOf(StartsWith("damaged"), HasSubstr("thread t1"))) << damage;
  }
  EXPECT_EQ(read_after("last_gap_fingerprint = NULL, repeated_gap_count = 0, last_gap_pass = NULL"),
            "none");
}

TEST_F(GoalsTest, AnUnknownStatusReadsAsPaused) {
  EXPECT_EQ(read_after("status = 'nonsense', pause_reason = NULL"), "none");
  EXPECT_EQ(goals.get(thread).status, GoalStatus::paused);
  EXPECT_EQ(goals.list({.status = GoalStatus::paused}).items.size(), 1u);
  EXPECT_EQ(goals.record_usage(thread, {.tokens = 5000})->goal.status, GoalStatus::paused);
}

TEST_F(GoalsTest, ActiveAfterThreeEqualGapsReadsAsPausedForNoProgress) {
  EXPECT_EQ(read_after("status = 'active', repeated_gap_count = 3, pause_reason = NULL"), "none");
  const Goal goal = goals.get(thread);
  EXPECT_EQ(goal.status, GoalStatus::paused);
  EXPECT_EQ(goal.pause_reason, GoalPauseReason::no_progress);
  EXPECT_EQ(goals.list({.status = GoalStatus::active}).items.size(), 0u);
  EXPECT_EQ(goals.list({.status = GoalStatus::paused}).items, std::vector{goal});
}

TEST_F(GoalsTest, UsageIsAddedAndTimeNeverGoesBack) {
  goals.upsert(full_goal());
  const Goal after =
      goals.record_usage(thread, {.tokens = 100, .seconds = 7, .when = 10}).value().goal;
  EXPECT_EQ(after.tokens_used, 111);
  EXPECT_EQ(after.time_used_seconds, 19);
  EXPECT_EQ(after.updated_at, 14);
  EXPECT_EQ(goals.record_usage(thread, {.when = 20})->goal.updated_at, 20);
  EXPECT_EQ(goals.record_continuation(thread, 30)->continuation_count, 8);
  EXPECT_EQ(goals.get(thread).updated_at, 30);
  goals.remove(thread);
  EXPECT_FALSE(goals.record_usage(thread, {.tokens = 1}).has_value());
  EXPECT_FALSE(goals.record_continuation(thread).has_value());
}

TEST_F(GoalsTest, PassingTheBudgetLimitsAnActiveGoalOnce) {
  goals.set(thread, {.objective = "o", .token_budget = 100});
  const auto use = [&](std::int64_t tokens) {
    const auto accrued = goals.record_usage(thread, {.tokens = tokens});
    return std::pair{accrued->goal.status, accrued->budget_passed};
  };
  EXPECT_EQ(use(100), std::pair(GoalStatus::active, false)) << "used up, but not passed";
  EXPECT_EQ(use(1), std::pair(GoalStatus::budget_limited, true));
  EXPECT_EQ(use(1), std::pair(GoalStatus::budget_limited, false));
  goals.set_status(thread, GoalStatus::complete);
  EXPECT_EQ(use(1), std::pair(GoalStatus::complete, false));
}

TEST_F(GoalsTest, NegativeOrOverflowingUsageChangesNothing) {
  goals.set(thread, {.objective = "o"});
  EXPECT_THAT(error_of([&] { goals.record_usage(thread, {.tokens = -1}); }),
              StartsWith("invalid_argument"));
  goals.record_usage(thread, {.tokens = 1});
  EXPECT_THAT(error_of([&] {
                goals.record_usage(thread, {.tokens = std::numeric_limits<std::int64_t>::max()});
              }),
              StartsWith("conflict"));
  EXPECT_EQ(goals.get(thread).tokens_used, 1);
}

TEST_F(GoalsTest, TheThirdEqualGapInARowPausesTheGoal) {
  goals.set(thread, {.objective = "o"});
  const std::string other_gap(64, 'b');
  EXPECT_EQ(goals.record_gap(thread, kGap)->repeated_gap_count, 1);
  EXPECT_EQ(goals.record_gap(thread, kGap)->repeated_gap_count, 1) << "the same pass";
  goals.record_continuation(thread);
  EXPECT_EQ(goals.record_gap(thread, other_gap)->repeated_gap_count, 1);
  goals.record_continuation(thread);
  EXPECT_EQ(goals.record_gap(thread, other_gap)->repeated_gap_count, 2);
  goals.record_continuation(thread);
  const Goal stalled = goals.record_gap(thread, other_gap).value();
  EXPECT_EQ(stalled.status, GoalStatus::paused);
  EXPECT_EQ(stalled.pause_reason, GoalPauseReason::no_progress);
  const Goal resumed = goals.resume(thread);
  EXPECT_EQ(resumed.status, GoalStatus::active);
  EXPECT_EQ(resumed.last_gap_fingerprint, std::nullopt);
  EXPECT_THAT(error_of([&] { goals.record_gap(thread, "short"); }), StartsWith("invalid_argument"));
}

TEST_F(GoalsTest, PauseAndResumeKeepWhatWasCounted) {
  goals.set(thread, {.objective = "o", .token_budget = 10});
  goals.record_usage(thread, {.tokens = 11});
  EXPECT_THAT(error_of([&] { goals.resume(thread); }), StartsWith("conflict"));
  goals.set_token_budget(thread, 20);
  EXPECT_EQ(goals.resume(thread).tokens_used, 11);
  EXPECT_EQ(goals.pause(thread).pause_reason, GoalPauseReason::user);
  goals.set_status(thread, GoalStatus::complete);
  EXPECT_THAT(error_of([&] { goals.pause(thread); }), StartsWith("conflict"));
  EXPECT_THAT(error_of([&] { goals.set_token_budget(thread, -1); }),
              StartsWith("invalid_argument"));
}

TEST_F(GoalsTest, ListPagesOverThreadsAndNamesDamage) {
  for (const char* id : {"a", "b", "c", "d"}) {
    goals.set(make_thread(id), {.objective = id});
    ++seconds;
  }
  other.run("UPDATE thread_goals SET last_gap_pass = 1 WHERE thread_id = 'c'");
  const GoalPage first = goals.list({.limit = 2});
  ASSERT_EQ(first.items.size(), 1u);
  EXPECT_EQ(first.items[0].objective, "d");
  ASSERT_EQ(first.damaged.size(), 1u);
  EXPECT_EQ(first.damaged[0].thread_id.str(), "c");
  const GoalPage second = goals.list({.status = GoalStatus::active, .after = first.next});
  EXPECT_EQ(second.items.size(), 2u);
  EXPECT_EQ(second.next, std::nullopt);
}

TEST_F(GoalsTest, GoesWithItsThread) {
  goals.set(thread, {.objective = "o"});
  store.threads().remove(thread);
  EXPECT_EQ(goals.list().items.size(), 0u);
  EXPECT_EQ(other.ask("SELECT count(*) FROM thread_goals"), "0");
}

TEST(GoalsFixtureTest, ReadsWhatTheOriginalStored) {
  FixtureStore original("original-v5");
  std::string gap;
  for (int i = 0; i < 32; ++i) gap += "ab";
  Goal expected{.thread_id = ThreadId("thread-linear"),
                .goal_id = GoalId("goal-1"),
                .objective = "Ship the parser fix",
                .status = GoalStatus::active,
                .token_budget = 100000,
                .tokens_used = 1500,
                .time_used_seconds = 65,
                .created_at = 1770000000,
                .updated_at = 1770000070,
                .continuation_count = 3,
                .last_gap_fingerprint = gap,
                .repeated_gap_count = 2,
                .last_gap_pass = 2};
  EXPECT_EQ(original.store->goals().get(ThreadId("thread-linear")), expected);
  expected.thread_id = ThreadId("thread-branches");
  expected.goal_id = GoalId("goal-2");
  expected.status = GoalStatus::paused;
  expected.tokens_used = 1200;
  expected.time_used_seconds = 60;
  expected.updated_at = 1770000050;
  expected.continuation_count = 2;
  expected.repeated_gap_count = 3;
  expected.pause_reason = GoalPauseReason::no_progress;
  EXPECT_EQ(original.store->goals().get(ThreadId("thread-branches")), expected);
}

}  // namespace
}  // namespace threadstore::test
