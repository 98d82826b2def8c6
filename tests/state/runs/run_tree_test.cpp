#include "tests/state/db/sqlite_connection.h"
#include "tests/state/runs/run_fixture.h"

namespace threadstore::test {
namespace {

using testing::ElementsAre;

class RunTreeTest : public RunFileFixture {
 protected:
  RunTree tree() const { return runs_.tree(); }
  RunId spawn(const RunId& parent, std::int64_t ordinal, const std::string& goal = "part") {
    ++now_;
    return tree().spawn({.parent = parent, .step = 1, .ordinal = ordinal, .goal = goal}).child.id;
  }
  std::vector<RunId> child_ids(const RunId& run) const { return runs_.trace().children(run); }

  RunId root_ = start().id;
};

TEST_F(RunTreeTest, ATreeIsThereAfterReopening) {
  const RunId left = spawn(root_, 0, "left");
  const RunId right = spawn(root_, 1, "right");
  const RunId below = spawn(left, 0, "below");
  const auto other = StateStore::open(file_, options());
  const RunTrace trace = other.runs("/work").trace();
  EXPECT_THAT(trace.children(root_), ElementsAre(left, right));
  EXPECT_EQ(trace.parent(below), left);
  EXPECT_EQ(trace.parent(root_), std::nullopt);
  EXPECT_EQ(trace.depth(below), 2);
  EXPECT_THAT(trace.tree_run_ids(root_), ElementsAre(root_, left, right, below));
  EXPECT_THAT(trace.tree_run_ids(left), ElementsAre(left, below));
  EXPECT_EQ(trace.agent_count_tree(root_), 4);
  std::vector<RunId> parents_first;
  for (const Run& run : tree().runs(root_)) parents_first.push_back(run.id);
  EXPECT_THAT(parents_first, ElementsAre(root_, left, right, below));
}

TEST_F(RunTreeTest, ASpawnIsChildContractAndEventAtOnce) {
  const Spawned spawned = tree().spawn({.parent = root_,
                                        .step = 3,
                                        .ordinal = 1,
                                        .goal = "write the test",
                                        .verify_file = "a_test.cpp",
                                        .needle = "TEST(",
                                        .max_steps = 9,
                                        .deny_write = R"(["src"])",
                                        .child = {.model = "small"}});
  const SpawnContract expected{.parent_run_id = root_,
                               .step = 3,
                               .ordinal = 1,
                               .child_run_id = spawned.child.id,
                               .goal = "write the test",
                               .verify_file = "a_test.cpp",
                               .needle = "TEST(",
                               .max_steps = 9,
                               .deny_write = R"(["src"])",
                               .created_at = now_};
  EXPECT_EQ(spawned.contract, expected);
  EXPECT_FALSE(spawned.adopted);
  EXPECT_EQ(tree().find(root_, 3, "write the test"), expected);
  EXPECT_EQ(tree().find(root_, 3, 1), expected);
  EXPECT_EQ(tree().find(root_, 3, "something else"), std::nullopt);
  EXPECT_THAT(tree().spawns(root_), ElementsAre(expected));
  EXPECT_EQ(spawned.child.agent_name, "coder");
  EXPECT_EQ(spawned.child.model, "small");
  EXPECT_EQ(spawned.child.input, "write the test");
  EXPECT_EQ(spawned.child.file, "a_test.cpp");
  EXPECT_THAT(types(root_), ElementsAre("run.started", "delegation.started"));
  EXPECT_THAT(types(spawned.child.id), ElementsAre("run.created"));
  expect_sound(root_);
}

TEST_F(RunTreeTest, AStepThatIsDrivenAgainAdoptsItsChildren) {
  const RunId first = spawn(root_, 0, "same words");
  const RunId second = spawn(root_, 1, "same words");
  EXPECT_NE(first, second);
  runs_.finish(second, RunEnd::failed("x"));
  const Spawned again =
      tree().spawn({.parent = root_, .step = 1, .ordinal = 1, .goal = "same words"});
  EXPECT_TRUE(again.adopted);
  EXPECT_EQ(again.child.id, second);
  EXPECT_EQ(tree().find(root_, 1, "same words")->child_run_id, first);
  EXPECT_EQ(
      error_of([&] { tree().spawn({.parent = root_, .step = 1, .ordinal = 1, .goal = "other"}); }),
      ErrorCode::conflict);
  EXPECT_THAT(child_ids(root_), ElementsAre(first, second));
  EXPECT_EQ(runs_.get(root_).last_sequence, 4);  // two spawns, one end
}

TEST_F(RunTreeTest, WhatCannotBeSpawnedIsRefused) {
  const auto refusal = [&](const NewSpawn& spawn) {
    return error_of([&] { tree().spawn(spawn); });
  };
  EXPECT_EQ(refusal({.parent = RunId("none")}), ErrorCode::not_found);
  EXPECT_EQ(refusal({.parent = root_, .step = -1}), ErrorCode::invalid_argument);
  EXPECT_EQ(refusal({.parent = root_, .deny_write = "{}"}), ErrorCode::invalid_argument);
  EXPECT_EQ(refusal({.parent = root_, .deny_write = "["}), ErrorCode::invalid_argument);
  EXPECT_EQ(refusal({.parent = root_, .max_depth = 65}), ErrorCode::invalid_argument);
  RunId deepest = root_;
  for (int depth = 1; depth <= 64; ++depth) deepest = spawn(deepest, 0);
  EXPECT_EQ(refusal({.parent = deepest}), ErrorCode::conflict);
  EXPECT_EQ(tree().ids(root_).size(), 65U);
  runs_.finish(root_, RunEnd::cancelled());
  EXPECT_EQ(refusal({.parent = root_, .step = 9}), ErrorCode::conflict);
}

TEST_F(RunTreeTest, AParentCycleOfADamagedFileEndsTheWalk) {
  const RunId child = spawn(root_, 0);
  const RunId below = spawn(child, 0);
  runs_.steps().commit(below, {.step = 1, .tokens = 3});
  sql(open_sqlite(file_).get(), "UPDATE runs SET parent_run_id = '" + below.str() +
                                    "', depth = 3 WHERE id = '" + root_.str() + "'");
  EXPECT_THAT(tree().ids(root_), ElementsAre(root_, child, below));
  EXPECT_EQ(tree().ids(below).size(), 3U);
  EXPECT_EQ(tree().runs(child).size(), 3U);
  EXPECT_EQ(tree().usage(root_).runs, 3);
  // Each run of the cycle is above the step once.
  runs_.steps().commit(below, {.step = 2, .tokens = 4});
  EXPECT_EQ(runs_.steps().spent_tokens_tree(root_), 7);
  EXPECT_EQ(runs_.steps().spent_tokens_tree(below), 7);
  runs_.finish(root_, RunEnd::cancelled());
}

TEST_F(RunTreeTest, AWideTreeIsReadWhole) {
  std::vector<RunId> expected{root_};
  store_.transaction([&] {
    for (int i = 0; i < 2500; ++i) expected.push_back(spawn(root_, i));
  });
  EXPECT_EQ(tree().ids(root_), expected);
  EXPECT_EQ(tree().usage(root_).runs, 2501);
}

TEST_F(RunTreeTest, UsageIsToldForTheRunItsTreeAndEachModel) {
  runs_.set_provider(root_, "acme");
  const RunId small =
      tree().spawn({.parent = root_, .step = 1, .goal = "a", .child = {.model = "small"}}).child.id;
  const RunId other =
      tree().spawn({.parent = small, .step = 1, .goal = "b", .child = {.model = "small"}}).child.id;
  runs_.accounts().request_model(root_);
  runs_.accounts().record_response(root_, TokenUsage{1, 2, 3});
  runs_.accounts().record_response(small, TokenUsage{10, 20, 30});
  runs_.accounts().record_response(other, std::nullopt);
  started_call(other, "c");
  runs_.steps().commit(other, {.step = 1, .tokens = 5});
  const RunUsage own{.model_turns = 1,
                     .input_tokens = 1,
                     .output_tokens = 2,
                     .total_tokens = 3,
                     .responses_with_usage = 1};
  const RunUsage both_small{.input_tokens = 10,
                            .output_tokens = 20,
                            .total_tokens = 30,
                            .responses_with_usage = 1,
                            .responses_without_usage = 1,
                            .tool_calls = 1};
  UsageReport expected{.own = own, .subtree = runs_.get(root_).usage};
  expected.subtree_step_tokens = 5;
  expected.runs = 3;
  expected.by_model = {
      {.provider = "acme", .model = "m", .runs = 1, .usage = own},
      {.provider = "acme", .model = "small", .runs = 2, .usage = both_small, .step_tokens = 5}};
  EXPECT_EQ(tree().usage(root_), expected);
  EXPECT_EQ(tree().usage(small).own.total_tokens, 30);
  EXPECT_EQ(tree().usage(other).own.total_tokens, std::nullopt);
  expect_sound(root_);
  expect_sound(small);
}

TEST_F(RunTreeTest, WhatWasUsedWhileTheParentWasOverIsTheChildsAlone) {
  const RunId child = spawn(root_, 0);
  runs_.finish(child, RunEnd::needs_user_input(RunReason::decision_required, "?"));
  runs_.accounts().record_response(root_, TokenUsage{1, 1, 2});
  runs_.finish(root_, RunEnd::completed("x"));
  runs_.steps().resume(child);
  runs_.accounts().record_response(child, TokenUsage{5, 5, 10});
  const UsageReport report = tree().usage(root_);
  EXPECT_EQ(report.own.total_tokens, 2);
  EXPECT_EQ(report.subtree.total_tokens, 12);
  EXPECT_EQ(runs_.get(root_).usage.total_tokens, 2);
}

TEST_F(RunTreeTest, RemovingAThreadTakesStepsAndSpawnsAlong) {
  const ThreadId thread = store_.threads().create({}).thread.id;
  const RunId run =
      runs_.create({.agent_name = "a", .agent_version = "1", .model = "m", .thread_id = thread}).id;
  spawn(run, 0);
  for (std::int64_t step = 1; step <= 50; ++step) runs_.steps().commit(run, {.step = step});
  store_.threads().remove(thread);
  const auto connection = open_sqlite(file_);
  for (const std::string table : {"run_steps", "run_spawns"}) {
    EXPECT_EQ(ask(connection.get(), "SELECT count(*) FROM " + table), "0");
  }
  EXPECT_EQ(runs_.find(run), std::nullopt);
}

TEST_F(RunTreeTest, WhatARemovedRunUsedStaysChargedAndTheRunAboveIsSound) {
  const ThreadId thread = store_.threads().create({}).thread.id;
  runs_.calls().request(root_, {.id = CallId("c"), .tool_name = "agent.invoke"});
  runs_.calls().start(root_, CallId("c"));
  const RunId child =
      runs_
          .create_child(
              {.parent = root_,
               .call = CallId("c"),
               .run = {.agent_name = "a", .agent_version = "1", .model = "m", .thread_id = thread}})
          .id;
  runs_.accounts().request_model(child);
  runs_.accounts().record_response(child, TokenUsage{5, 5, 10});
  runs_.accounts().record_response(root_, TokenUsage{1, 1, 2});
  store_.threads().remove(thread);
  ASSERT_EQ(runs_.find(child), std::nullopt);
  EXPECT_EQ(runs_.get(root_).usage.total_tokens, 12);
  expect_sound(root_);
  sql(open_sqlite(file_).get(), "DELETE FROM run_working_state");
  EXPECT_FALSE(runs_.projections().rebuild(root_).ok());
  EXPECT_EQ(runs_.get(root_).usage.total_tokens, 12);
  // Less than the runs below used is still a difference.
  sql(open_sqlite(file_).get(), "UPDATE runs SET total_tokens = 0 WHERE parent_run_id IS NULL");
  EXPECT_FALSE(runs_.projections().verify(root_).ok());
}

}  // namespace
}  // namespace threadstore::test
