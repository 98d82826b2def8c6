#include <limits>

#include "tests/state/db/sqlite_connection.h"
#include "tests/state/runs/run_fixture.h"

namespace threadstore::test {
namespace {

using testing::ElementsAre;

constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

template <class Fixture>
class AccountsFixture : public Fixture {
 protected:
  using Fixture::runs_;
  RunAccounts accounts() const { return runs_.accounts(); }
  BudgetDecision respond(const RunId& run, std::int64_t total) {
    return accounts().record_response(
        run, TokenUsage{.input_tokens = total, .output_tokens = 0, .total_tokens = total});
  }
};

class RunAccountsTest : public AccountsFixture<RunFixture> {};
class RunAccountsFileTest : public AccountsFixture<RunFileFixture> {};

TEST_F(RunAccountsTest, TokensAreAbsentUntilAResponseReportsThem) {
  const RunId run = start().id;
  EXPECT_TRUE(accounts().request_model(run, R"({"model":"m"})").allowed());
  EXPECT_TRUE(accounts().record_response(run, std::nullopt).allowed());
  EXPECT_EQ(runs_.get(run).usage, (RunUsage{.model_turns = 1, .responses_without_usage = 1}));
  EXPECT_EQ(runs_.get(run).usage.token_accounting(), TokenAccounting::unavailable);
  EXPECT_TRUE(accounts()
                  .record_response(
                      run, TokenUsage{.input_tokens = 3, .output_tokens = 4, .total_tokens = 8})
                  .allowed());
  EXPECT_EQ(runs_.get(run).usage, (RunUsage{.model_turns = 1,
                                            .input_tokens = 3,
                                            .output_tokens = 4,
                                            .total_tokens = 8,
                                            .responses_with_usage = 1,
                                            .responses_without_usage = 1}));
  EXPECT_EQ(runs_.get(run).usage.token_accounting(), TokenAccounting::partial);
  EXPECT_EQ(payload(run, 2), (nlohmann::json{{"payload", {{"model", "m"}}}}));
  EXPECT_EQ(payload(run, 3),
            (nlohmann::json{{"usage", nullptr}, {"payload", nlohmann::json::object()}}));
  expect_sound(run);
}

TEST_F(RunAccountsTest, TurnsAreAllowedBelowTheLimitAndNothingIsWrittenAtIt) {
  const RunId run = start({.max_turns = 2}).id;
  EXPECT_TRUE(accounts().request_model(run).allowed());
  EXPECT_TRUE(accounts().request_model(run).allowed());
  const BudgetDecision refused{.exceeded = RunReason::model_turns, .limited_by = run};
  EXPECT_EQ(accounts().check_model_turn(run), refused);
  EXPECT_EQ(accounts().request_model(run), refused);
  EXPECT_EQ(runs_.get(run).last_sequence, 3);
  EXPECT_EQ(runs_.get(run).usage.model_turns, 2);
}

TEST_F(RunAccountsTest, ATokenBudgetIsExceededAboveItAfterAndAtItBefore) {
  const RunId run = start({.max_total_tokens = 10}).id;
  EXPECT_TRUE(respond(run, 9).allowed());
  EXPECT_TRUE(accounts().check_model_turn(run).allowed());
  EXPECT_TRUE(respond(run, 1).allowed());
  const BudgetDecision exceeded{.exceeded = RunReason::total_tokens, .limited_by = run};
  EXPECT_EQ(accounts().check_model_turn(run), exceeded);
  EXPECT_EQ(respond(run, 1), exceeded);
  EXPECT_EQ(runs_.get(run).usage.total_tokens, 11);
  EXPECT_THAT(types(run),
              ElementsAre("run.started", "model.responded", "model.responded", "model.responded"));
}

TEST_F(RunAccountsTest, MissingUsageOnlyMattersWithATokenBudgetAndComesFirst) {
  const RunId free = start({.max_turns = 9}).id;
  EXPECT_TRUE(accounts().record_response(free, std::nullopt).allowed());
  EXPECT_TRUE(accounts().request_model(free).allowed());
  const RunId bound = start({.max_turns = 1, .max_total_tokens = 5}).id;
  EXPECT_TRUE(accounts().request_model(bound).allowed());
  const BudgetDecision unavailable{.exceeded = RunReason::token_usage_unavailable,
                                   .limited_by = bound};
  EXPECT_EQ(accounts().record_response(bound, std::nullopt), unavailable);
  respond(bound, 50);
  EXPECT_EQ(accounts().request_model(bound), unavailable);
}

TEST_F(RunAccountsTest, AnOverflowingCounterRollsEverythingBack) {
  const RunId run = start().id;
  respond(run, kHighest - 1);
  EXPECT_EQ(error_of([&] { respond(run, 2); }), ErrorCode::conflict);
  EXPECT_EQ(runs_.get(run).usage.total_tokens, kHighest - 1);
  EXPECT_EQ(runs_.get(run).last_sequence, 2);
  EXPECT_EQ(error_of([&] { respond(run, -1); }), ErrorCode::invalid_argument);
}

TEST_F(RunAccountsTest, AncestorsAreChargedAndTheirLimitsBind) {
  const RunId root = start({.max_turns = 2}).id;
  const RunId child = delegate(root, "c").id;
  const WorkingState before = runs_.projections().working_state(root);
  EXPECT_TRUE(accounts().request_model(child).allowed());
  const WorkingState after = runs_.projections().working_state(root);
  EXPECT_EQ(runs_.get(root).usage.model_turns, 1);
  EXPECT_EQ(after.status, WorkingStateStatus::current);
  EXPECT_EQ(after.revision, *before.revision + 1);
  EXPECT_EQ(after.event_cursor, before.event_cursor);
  EXPECT_TRUE(accounts().request_model(root).allowed());
  EXPECT_EQ(accounts().request_model(child),
            (BudgetDecision{.exceeded = RunReason::model_turns, .limited_by = root}));
  respond(child, 5);
  EXPECT_EQ(runs_.get(root).usage.total_tokens, 5);
  expect_sound(root);
  expect_sound(child);
}

TEST_F(RunAccountsFileTest, AStoppedAncestorIsNotChargedButThoseAboveItAre) {
  const RunId root = start().id;
  const RunId middle = delegate(root, "c").id;
  const RunId leaf = delegate(middle, "c").id;
  // Stopping a run stops those below: only another program's row can look like this.
  sql(open_sqlite(file_).get(),
      "UPDATE runs SET lifecycle = 'terminal', outcome = 'cancelled'"
      " WHERE id = '" +
          middle.str() + "'");
  respond(leaf, 7);
  EXPECT_TRUE(accounts().request_model(leaf).allowed());
  const auto calls = runs_.get(root).usage.tool_calls;
  const auto middle_calls = runs_.get(middle).usage.tool_calls;
  started_call(leaf, "s");
  EXPECT_EQ(runs_.get(middle).usage.total_tokens, std::nullopt);
  EXPECT_EQ(runs_.get(middle).usage.model_turns, 0);
  EXPECT_EQ(runs_.get(middle).usage.tool_calls, middle_calls);
  EXPECT_EQ(runs_.get(root).usage.total_tokens, 7);
  EXPECT_EQ(runs_.get(root).usage.model_turns, 1);
  EXPECT_EQ(runs_.get(root).usage.tool_calls, calls + 1);
  // Who was charged stands in the events.
  for (const char* type : {"model.responded", "model.requested", "tool.started"}) {
    const auto charge = nlohmann::json::parse(runs_.log().list_of_type(leaf, type).at(0).payload);
    EXPECT_EQ(charge["charged"], nlohmann::json{root.str()}) << type;
  }
  // A stopped run is not asked for, whoever above it works.
  EXPECT_EQ(error_of([&] { respond(middle, 1); }), ErrorCode::conflict);
  EXPECT_EQ(error_of([&] { accounts().check_tool_calls(middle, 1); }), ErrorCode::conflict);
}

TEST_F(RunAccountsTest, AStoppedChildMayAskForNothingWhileItsParentWorks) {
  const RunId root = start().id;
  const RunId child = delegate(root, "c").id;
  runs_.calls().request(child, {CallId("s"), "sh"});
  runs_.finish(child, RunEnd::failed("x"));
  const Run before = runs_.get(root);
  const auto refused = ErrorCode::conflict;
  EXPECT_EQ(error_of([&] { accounts().check_model_turn(child); }), refused);
  EXPECT_EQ(error_of([&] { accounts().check_tool_calls(child, 0); }), refused);
  EXPECT_EQ(error_of([&] { accounts().request_model(child); }), refused);
  EXPECT_EQ(error_of([&] { accounts().record_response(child, std::nullopt); }), refused);
  EXPECT_EQ(error_of([&] { runs_.calls().start(child, CallId("s")); }), refused);
  EXPECT_EQ(runs_.get(root), before);
  EXPECT_TRUE(accounts().check_model_turn(root).allowed());
}

TEST_F(RunAccountsTest, ABatchOfCallsIsCheckedAgainstTheChain) {
  const RunId root = start({.max_tool_calls = 3}).id;
  const RunId child = delegate(root, "c").id;
  EXPECT_TRUE(accounts().check_tool_calls(child, 2).allowed());
  const BudgetDecision exceeded{.exceeded = RunReason::tool_calls, .limited_by = root};
  EXPECT_EQ(accounts().check_tool_calls(child, 3), exceeded);
  EXPECT_EQ(accounts().check_tool_calls(child, kHighest), exceeded);
  EXPECT_EQ(error_of([&] { accounts().check_tool_calls(child, -1); }), ErrorCode::invalid_argument);
  EXPECT_EQ(runs_.get(child).last_sequence, 1);
}

TEST_F(RunAccountsTest, StartingACallPastTheLimitIsRefused) {
  const RunId run = start({.max_tool_calls = 1}).id;
  started_call(run, "a");
  runs_.calls().request(run, {.id = CallId("b"), .tool_name = "sh"});
  EXPECT_EQ(error_of([&] { runs_.calls().start(run, CallId("b")); }), ErrorCode::conflict);
  EXPECT_EQ(runs_.get(run).usage.tool_calls, 1);
  EXPECT_EQ(runs_.calls().get(run, CallId("b")).status, CallStatus::requested);
}

TEST_F(RunAccountsTest, BudgetsOnlyGrow) {
  const RunId run = start({.max_turns = 2, .max_tool_calls = 5}).id;
  EXPECT_EQ(error_of([&] { accounts().raise(run, {.max_turns = 1, .max_tool_calls = 5}); }),
            ErrorCode::conflict);
  EXPECT_EQ(error_of([&] { accounts().raise(run, {.max_turns = 2, .timeout_seconds = 1}); }),
            ErrorCode::conflict);
  EXPECT_EQ(error_of([&] { accounts().raise(run, {.max_turns = 2, .max_tool_calls = 5}); }),
            ErrorCode::conflict);
  const RunBudgets more{.max_turns = 9};
  EXPECT_EQ(accounts().raise(run, more).budgets, more);
  EXPECT_THAT(types(run), ElementsAre("run.started", "budget.raised"));
  runs_.finish(run, RunEnd::completed(""));
  EXPECT_EQ(error_of([&] { accounts().raise(run, {}); }), ErrorCode::conflict);
}

TEST_F(RunAccountsTest, TheThreadsActiveGoalIsTheLastLink) {
  const ThreadId thread = store_.threads().create({}).thread.id;
  store_.goals().set(thread, {.objective = "ship", .token_budget = 10});
  const RunId root =
      runs_.create({.agent_name = "a", .agent_version = "1", .model = "m", .thread_id = thread}).id;
  const RunId child = delegate(root, "c").id;
  EXPECT_TRUE(respond(child, 10).allowed());
  EXPECT_EQ(store_.goals().get(thread).tokens_used, 10);
  EXPECT_EQ(accounts().request_model(child), (BudgetDecision{.exceeded = RunReason::total_tokens}));
  EXPECT_EQ(respond(child, 1), (BudgetDecision{.exceeded = RunReason::total_tokens}));
  EXPECT_EQ(store_.goals().get(thread).status, GoalStatus::budget_limited);
  now_ += 3'500;
  runs_.finish(root, RunEnd::limit_exceeded(RunReason::total_tokens));
  EXPECT_EQ(store_.goals().get(thread).time_used_seconds, 3);
  // A goal that does not drive is not charged.
  store_.goals().set_token_budget(thread, 100);
  store_.goals().pause(thread, GoalPauseReason::user);
  const RunId manual =
      runs_.create({.agent_name = "a", .agent_version = "1", .model = "m", .thread_id = thread}).id;
  respond(manual, 50);
  EXPECT_EQ(store_.goals().get(thread).tokens_used, 11);
}

}  // namespace
}  // namespace threadstore::test
