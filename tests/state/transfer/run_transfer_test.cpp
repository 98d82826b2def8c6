#include "tests/state/runs/run_fixture.h"
#include "threadstore/transfer.h"

namespace threadstore::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class RunTransferTest : public RunFixture {
 protected:
  void SetUp() override {
    root_ = runs_
                .create({.agent_name = "coder",
                         .agent_version = "1",
                         .model = "m",
                         .input = "fix it",
                         .provider = "local",
                         .file = "out.txt"})
                .id;
    runs_.steps().record(root_, {.step = 1, .decision = "d", .result = "r", .tokens = 10});
    runs_.steps().commit(root_, {.step = 1,
                                 .decision = "d2",
                                 .result = "r2",
                                 .prompt = "p",
                                 .tool_call = R"({"a": 1})",
                                 .tokens = 20});
    runs_.audit().record(root_, PolicyEvent::refused(1, "write", "key.txt", "secrets/*", "base"));
    runs_.audit().record(root_, SandboxEvent{.step = 1, .backend = "bwrap"});
    const Spawned spawned = runs_.tree().spawn({.parent = root_,
                                                .step = 2,
                                                .ordinal = 1,
                                                .goal = "part",
                                                .verify_file = "f",
                                                .needle = "ok",
                                                .max_steps = 5,
                                                .deny_write = R"(["x"])"});
    child_ = spawned.child.id;
    runs_.accounts().request_model(child_);
    runs_.accounts().record_response(child_, TokenUsage{3, 4, 7}, "{}");
    runs_.steps().commit(child_, {.step = 1, .decision = "d", .result = "r", .tokens = 5});
    runs_.requests().put(root_, {.step = 2, .act = "write", .target = "a", .content = "text"});
    const auto second =
        runs_.requests().put(root_, {.step = 2, .act = "exec", .target = "make", .key = "k"});
    now_ += 10;
    runs_.requests().decide(second.request_id, {ApprovalDecision::denied, "ann", "no"});
    runs_.finish(root_, RunEnd::from_word("awaiting_approval"));
  }

  RunRecord record(const StateStore& store, const RunId& run) const {
    return Transfer(store).run(run);
  }
  std::vector<RunEvent> events(const RunId& run) const { return runs_.log().list(run); }
  bool put(const RunId& run) { return Transfer(other_).put_run(record(store_, run), events(run)); }

  RunId root_;
  RunId child_;
  StateStore other_ = StateStore::in_memory(options());
};

TEST_F(RunTransferTest, EverythingThatARunHasArrives) {
  // Numbers of requests are taken there, so that they have to be given anew.
  Runs there = other_.runs("/work");
  const RunId taken = there.create({"a", "1", "m", "x"}).id;
  for (int i = 0; i < 3; ++i) there.requests().put(taken, {.act = "read", .target = "t"});
  EXPECT_TRUE(put(root_));
  EXPECT_TRUE(put(child_));
  EXPECT_FALSE(put(root_));
  for (const RunId& run : {root_, child_}) {
    RunRecord expected = record(store_, run);
    RunRecord found = record(other_, run);
    for (std::size_t i = 0; i < expected.requests.size(); ++i) {
      DeferredApproval& request = expected.requests[i];
      request.origin_id = std::to_string(to_int(request.request_id));
      request.request_id = RequestId{static_cast<std::int64_t>(4 + i)};
    }
    EXPECT_EQ(found.run.origin_id, std::nullopt);
    EXPECT_TRUE(found == expected);
    EXPECT_THAT(there.projections().verify(run).what, IsEmpty());
  }
  EXPECT_EQ(there.steps().spent_tokens(root_), 30);
  EXPECT_EQ(there.steps().spent_tokens_tree(root_), 35);
  EXPECT_EQ(there.steps().last_committed(root_), 1);
  EXPECT_EQ(there.audit().policy(root_), runs_.audit().policy(root_));
  EXPECT_EQ(there.audit().sandbox(root_), runs_.audit().sandbox(root_));
  EXPECT_EQ(there.audit().delegation(root_), runs_.audit().delegation(root_));
  EXPECT_EQ(there.tree().spawns(root_), runs_.tree().spawns(root_));
  EXPECT_EQ(there.tree().usage(root_), runs_.tree().usage(root_));
  // What waits there can be decided there.
  const auto pending = there.requests().pending(root_);
  ASSERT_EQ(pending.size(), 1);
  EXPECT_EQ(pending[0].content, "text");
  there.requests().decide(pending[0].request_id, {ApprovalDecision::granted, "bob", {}});
  EXPECT_THAT(there.projections().verify(root_).what, IsEmpty());
}

TEST_F(RunTransferTest, TokensOfRemovedRunsStayInTheSumOfTheTree) {
  RunRecord changed = record(store_, root_);
  EXPECT_EQ(changed.removed_step_tokens, 0);
  changed.removed_step_tokens = 7;
  Transfer(other_).put_run(changed, events(root_));
  put(child_);
  EXPECT_EQ(other_.runs("/work").steps().spent_tokens_tree(root_), 42);
  EXPECT_EQ(record(other_, root_).removed_step_tokens, 7);
}

TEST_F(RunTransferTest, ASecondRunOfTheSameOriginIsNotStored) {
  RunRecord one = record(store_, root_);
  one.run.origin_source = "/srv/runs.db";
  one.run.origin_id = "1";
  EXPECT_TRUE(Transfer(other_).put_run(one, events(root_)));
  one.run.id = RunId("another");
  one.run.lineage.root_run_id = one.run.id;
  EXPECT_FALSE(Transfer(other_).put_run(one, events(root_)));
}

TEST_F(RunTransferTest, WhatContradictsItselfIsRefusedAsAWhole) {
  const auto refused = [&](const std::function<void(RunRecord&)>& spoil) {
    RunRecord bad = record(store_, root_);
    spoil(bad);
    const auto code = error_of([&] { Transfer(other_).put_run(bad, events(root_)); });
    EXPECT_EQ(other_.runs("/work").find(root_), std::nullopt);
    return code == ErrorCode::invalid_argument;
  };
  EXPECT_TRUE(refused([](RunRecord& r) { r.steps[0].attempt = 2; }));
  EXPECT_TRUE(refused([](RunRecord& r) { r.steps[0].committed_sequence = 2; }));
  EXPECT_TRUE(refused([](RunRecord& r) { r.steps[1].committed_sequence = 99; }));
  EXPECT_TRUE(refused([](RunRecord& r) { r.steps[0].tokens = -1; }));
  EXPECT_TRUE(refused([](RunRecord& r) { r.steps[0].prompt = "\xff"; }));
  EXPECT_TRUE(refused([](RunRecord& r) { r.requests.pop_back(); }));
  EXPECT_TRUE(refused([](RunRecord& r) { r.requests[0].requested_sequence = 0; }));
  EXPECT_TRUE(refused([](RunRecord& r) { r.spawned_for.push_back({.deny_write = "["}); }));
}

TEST_F(RunTransferTest, AContractNeedsTheRunThatSpawned) {
  EXPECT_EQ(error_of([&] { put(child_); }), ErrorCode::not_found);
  EXPECT_EQ(other_.runs("/work").find(child_), std::nullopt);
}

TEST_F(RunTransferTest, ASumThatDoesNotFitIsRefusedAsAWhole) {
  EXPECT_TRUE(put(root_));
  RunRecord big = record(store_, child_);
  big.removed_step_tokens = std::numeric_limits<std::int64_t>::max() - 20;
  EXPECT_EQ(error_of([&] { Transfer(other_).put_run(big, events(child_)); }), ErrorCode::conflict);
  EXPECT_EQ(other_.runs("/work").find(child_), std::nullopt);
  EXPECT_EQ(other_.runs("/work").steps().spent_tokens_tree(root_), 30);
}

}  // namespace
}  // namespace threadstore::test
