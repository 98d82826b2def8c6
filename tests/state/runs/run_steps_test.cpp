#include <limits>

#include "tests/state/db/sqlite_connection.h"
#include "tests/state/runs/run_fixture.h"

namespace threadstore::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class RunStepsTest : public RunFileFixture {
 protected:
  RunSteps steps() const { return runs_.steps(); }
  void change(const std::string& statement) { sql(open_sqlite(file_).get(), statement); }

  RunId run_ = start().id;
};

TEST_F(RunStepsTest, AStepComesBackWithEveryField) {
  now_ += 500;
  const RunStep stored = steps().commit(run_, {.step = 1,
                                               .decision = "call a tool",
                                               .result = "it said 1",
                                               .prompt = "what next?",
                                               .tool_call = R"({"name":"sh"})",
                                               .tokens = 128});
  const RunStep expected{.run_id = run_,
                         .step = 1,
                         .attempt = 1,
                         .decision = "call a tool",
                         .result = "it said 1",
                         .prompt = "what next?",
                         .tool_call = R"({"name":"sh"})",
                         .tokens = 128,
                         .created_at = now_,
                         .committed_sequence = 2};
  EXPECT_EQ(stored, expected);
  EXPECT_THAT(steps().list(run_).items, ElementsAre(expected));
}

TEST_F(RunStepsTest, ACommittedStepHasARowAndAnEvent) {
  steps().commit(run_, {.step = 1});
  steps().commit(run_, {.step = 2, .tokens = 7});
  EXPECT_EQ(steps().last(run_), 2);
  EXPECT_EQ(steps().list(run_).items.size(), 2U);
  EXPECT_THAT(types(run_), ElementsAre("run.started", "step.committed", "step.committed"));
  EXPECT_EQ(payload(run_, 3).dump(), R"({"attempt":1,"step":2,"tokens":7})");
  expect_sound(run_);
}

TEST_F(RunStepsTest, RetriesAreAttemptsOfTheSameStep) {
  steps().record(run_, {.step = 1, .decision = "first", .tokens = 1});
  steps().record(run_, {.step = 1, .decision = "second", .tokens = 2});
  steps().commit(run_, {.step = 1, .decision = "third", .tokens = 4});
  steps().record(run_, {.step = 2, .decision = "next"});
  std::vector<std::string> seen;
  for (const RunStep& step : steps().list(run_).items) {
    seen.push_back(std::to_string(step.step) + "." + std::to_string(step.attempt) + " " +
                   step.decision + (step.committed_sequence ? " committed" : ""));
  }
  EXPECT_THAT(seen, ElementsAre("1.1 first", "1.2 second", "1.3 third committed", "2.1 next"));
  EXPECT_EQ(steps().spent_tokens(run_), 7);
  EXPECT_EQ(steps().last(run_), 2);
  EXPECT_EQ(steps().last_committed(run_), 1);
  EXPECT_EQ(steps().list(run_, {.committed_only = true}).items.size(), 1U);
  expect_sound(run_);
}

TEST_F(RunStepsTest, ACommittedStepIsNotStoredAgain) {
  steps().commit(run_, {.step = 1, .tokens = 5});
  const Run before = runs_.get(run_);
  EXPECT_EQ(error_of([&] { steps().commit(run_, {.step = 1, .tokens = 5}); }), ErrorCode::conflict);
  EXPECT_EQ(error_of([&] { steps().record(run_, {.step = 1}); }), ErrorCode::conflict);
  try {
    steps().commit(run_, {.step = 1});
    ADD_FAILURE() << "committed twice";
  } catch (const Error& error) {
    EXPECT_EQ(error.details().value("committed_sequence", 0), 2);
  }
  EXPECT_EQ(runs_.get(run_), before);
  EXPECT_EQ(steps().spent_tokens(run_), 5);
}

TEST_F(RunStepsTest, ATransactionThatIsGivenUpLeavesNoStep) {
  steps().commit(run_, {.step = 1});
  EXPECT_THROW(store_.transaction([&] {
    steps().commit(run_, {.step = 2});
    EXPECT_EQ(steps().last(run_), 2);
    throw std::runtime_error("crash");
  }),
               std::runtime_error);
  EXPECT_EQ(steps().last(run_), 1);
  EXPECT_THAT(types(run_), ElementsAre("run.started", "step.committed"));
}

TEST_F(RunStepsTest, TokensAreSummedForTheRunAndAllAboveIt) {
  const RunId child = runs_.tree().spawn({.parent = run_, .step = 1, .goal = "part"}).child.id;
  const RunId grandchild = runs_.tree().spawn({.parent = child, .step = 1, .goal = "bit"}).child.id;
  steps().commit(run_, {.step = 1, .tokens = 10});
  steps().commit(child, {.step = 1, .tokens = 20});
  steps().commit(grandchild, {.step = 1, .tokens = 5});
  EXPECT_EQ(steps().spent_tokens_tree(run_), 35);
  EXPECT_EQ(steps().spent_tokens_tree(child), 25);
  EXPECT_EQ(steps().spent_tokens(child), 20);
  EXPECT_EQ(steps().spent_tokens_tree(grandchild), 5);
  expect_sound(run_);
  expect_sound(child);
}

TEST_F(RunStepsTest, ASumThatDoesNotFitIsRefusedAndNothingStored) {
  constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();
  const RunId child = runs_.tree().spawn({.parent = run_, .step = 1, .goal = "part"}).child.id;
  steps().commit(child, {.step = 1, .tokens = highest});
  EXPECT_EQ(steps().spent_tokens_tree(run_), highest);
  EXPECT_EQ(error_of([&] { steps().commit(run_, {.step = 1, .tokens = 1}); }), ErrorCode::conflict);
  EXPECT_EQ(steps().last(run_), 0);
  steps().commit(run_, {.step = 1});
  expect_sound(run_);
}

TEST_F(RunStepsTest, WhatIsNoStepIsRefused) {
  EXPECT_EQ(error_of([&] { steps().commit(run_, {.step = 0}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(error_of([&] { steps().commit(run_, {.step = 1, .tokens = -1}); }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(error_of([&] { steps().commit(run_, {.step = 1, .decision = "\xff"}); }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(error_of([&] { steps().commit(RunId("none"), {.step = 1}); }), ErrorCode::not_found);
  EXPECT_EQ(error_of([&] { steps().list(RunId("none")); }), ErrorCode::not_found);
  EXPECT_EQ(error_of([&] { steps().last(RunId("none")); }), ErrorCode::not_found);
  EXPECT_EQ(error_of([&] { steps().spent_tokens(RunId("none")); }), ErrorCode::not_found);
  runs_.finish(run_, RunEnd::cancelled());
  EXPECT_EQ(error_of([&] { steps().commit(run_, {.step = 1}); }), ErrorCode::conflict);
}

TEST_F(RunStepsTest, StepsAreReadInPages) {
  for (std::int64_t step = 1; step <= 5; ++step) {
    steps().record(run_, {.step = step});
    steps().commit(run_, {.step = step});
  }
  std::vector<std::int64_t> seen;
  StepFilter filter{.from_step = 2, .limit = 3};
  for (bool more = true; more;) {
    const Page<RunStep> page = steps().list(run_, filter);
    EXPECT_LE(page.items.size(), 3U);
    for (const RunStep& step : page.items) seen.push_back(step.step * 10 + step.attempt);
    filter.after = page.next;
    more = page.next.has_value();
  }
  EXPECT_THAT(seen, ElementsAre(21, 22, 31, 32, 41, 42, 51, 52));
  EXPECT_EQ(error_of([&] { steps().list(run_, {.limit = 1001}); }), ErrorCode::invalid_argument);
}

TEST_F(RunStepsTest, WhatDiffersFromTheLogIsNamedAndRepaired) {
  steps().record(run_, {.step = 1, .decision = "kept", .tokens = 3});
  steps().commit(run_, {.step = 1, .tokens = 4});
  const auto request = runs_.requests().put(run_, {.step = 2, .act = "exec", .target = "make"});
  const RunId child = runs_.tree().spawn({.parent = run_, .step = 2, .goal = "part"}).child.id;
  const auto before = steps().list(run_).items;
  change("UPDATE run_steps SET tokens = 9, committed_sequence = NULL WHERE attempt = 2");
  change("UPDATE runs SET step_tokens = 1, tree_step_tokens = 2, provider = 'x'");
  change("DELETE FROM run_approvals");
  change("DELETE FROM run_spawns");
  EXPECT_THAT(
      runs_.projections().verify(run_).what,
      ElementsAre("the provider differs from the log",
                  "the approval of request 1 is in the log but not in its table",
                  "step 1.2 differs from the log", "spawn 2.0 is in the log but not in its table",
                  "the sum of the steps' tokens differs from the log",
                  "the sum of the tree's tokens is less than that of its runs"));
  runs_.projections().rebuild(run_);
  runs_.projections().rebuild(child);
  expect_sound(run_);
  EXPECT_EQ(steps().list(run_).items, before);
  EXPECT_EQ(runs_.requests().get(request.request_id), request);
  EXPECT_EQ(runs_.tree().spawns(run_).at(0).child_run_id, child);
  EXPECT_EQ(steps().spent_tokens(run_), 7);
}

TEST_F(RunStepsTest, AFileOfTheFirstVersionKeepsItsRunsAndGetsSteps) {
  started_call(run_, "c", "agent.invoke");
  const RunId child =
      runs_
          .create_child({.parent = run_,
                         .call = CallId("c"),
                         .run = {.agent_name = "h", .agent_version = "1", .model = "m"}})
          .id;
  runs_.accounts().record_response(child, TokenUsage{1, 2, 3});
  const std::filesystem::path old = directory_ / "old.db";
  change("VACUUM INTO '" + old.string() + "'");
  {
    const auto connection = open_sqlite(old);
    sql(connection.get(), R"(
      DROP INDEX runs_parent; DROP INDEX runs_origin; DROP INDEX run_approvals_key;
      DROP INDEX run_approvals_undecided; DROP TABLE run_steps; DROP TABLE run_spawns;
      UPDATE threadstore_schema SET version = 1 WHERE component = 'runs')");
    for (const std::string column :
         {"provider", "file", "origin_source", "step_tokens", "tree_step_tokens",
          "below_model_turns", "below_input_tokens", "below_output_tokens", "below_total_tokens",
          "below_responses_with_usage", "below_responses_without_usage", "below_tool_calls"}) {
      sql(connection.get(), "ALTER TABLE runs DROP COLUMN " + column);
    }
    for (const std::string column :
         {"step", "act", "target", "content", "request_key", "origin_id"}) {
      sql(connection.get(), "ALTER TABLE run_approvals DROP COLUMN " + column);
    }
  }
  const auto store = StateStore::open(old, options());
  Runs runs = store.runs("/work");
  EXPECT_EQ(runs.get(run_), runs_.get(run_));
  EXPECT_EQ(runs.steps().last(run_), 0);
  EXPECT_EQ(runs.tree().usage(run_).own.total_tokens, std::nullopt);
  EXPECT_EQ(runs.tree().usage(child).own.total_tokens, 3);
  runs.steps().commit(run_, {.step = 1, .tokens = 2});
  runs.audit().record(run_, PolicyEvent::refused(1, "write", "/etc"));
  EXPECT_THAT(runs.projections().verify(run_).what, IsEmpty());
  EXPECT_THAT(runs.projections().verify(child).what, IsEmpty());
}

}  // namespace
}  // namespace threadstore::test
