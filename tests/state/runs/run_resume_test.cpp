#include "tests/state/runs/run_fixture.h"

namespace threadstore::test {
namespace {

using testing::ElementsAre;

class RunResumeTest : public RunFixture {
 protected:
  RunResumeTest() {
    runs_.steps().commit(run_, {.step = 1});
    runs_.steps().commit(run_, {.step = 2});
    runs_.steps().record(run_, {.step = 3});  // an attempt that did not come to its end
  }
  ResumePoint resume(const RunId& run) { return runs_.steps().resume(run); }
  std::optional<ErrorCode> refusal() {
    return error_of([&] { resume(run_); });
  }
  /// "checkpoint 1", …, for each mark in the order of the log.
  std::vector<std::string> marks() const {
    std::vector<std::string> words;
    for (const StepEvent& mark : runs_.audit().steps(run_)) {
      words.push_back(std::string(to_word(mark.kind)) + " " + std::to_string(mark.step));
    }
    return words;
  }

  const ResumePoint behind_two_{.committed = 2, .from_step = 3, .resumed = true};
  RunId run_ = start().id;
};

TEST_F(RunResumeTest, ACrashedRunGoesOnBehindItsLastCommittedStep) {
  EXPECT_EQ(runs_.steps().resume(run_, "the machine went down"), behind_two_);
  EXPECT_EQ(newest_payload(run_).dump(),
            R"({"committed":2,"detail":"the machine went down","from_step":3,)"
            R"("previous_sequence":4,"previous_status":"running"})");
  EXPECT_THAT(marks(),
              ElementsAre("checkpoint 1", "checkpoint 2", "resume 3", "skipped 1", "skipped 2"));
  EXPECT_EQ(runs_.audit().steps(run_).at(2).detail, "the machine went down");
  // One event however many steps there are.
  EXPECT_EQ(runs_.get(run_).last_sequence, 5);
  expect_sound(run_);
}

TEST_F(RunResumeTest, EachResumeIsOneMarkAndEachCommitOne) {
  resume(run_);
  runs_.steps().commit(run_, {.step = 3});
  EXPECT_EQ(resume(run_).from_step, 4);
  EXPECT_THAT(marks(),
              ElementsAre("checkpoint 1", "checkpoint 2", "resume 3", "skipped 1", "skipped 2",
                          "checkpoint 3", "resume 4", "skipped 1", "skipped 2", "skipped 3"));
  EXPECT_EQ(error_of([&] { runs_.steps().commit(run_, {.step = 3}); }), ErrorCode::conflict);
}

TEST_F(RunResumeTest, ARunWithoutStepsBeginsWithTheFirst) {
  const RunId fresh = start().id;
  EXPECT_EQ(resume(fresh), (ResumePoint{.committed = 0, .from_step = 1, .resumed = true}));
}

TEST_F(RunResumeTest, AFinishedRunStaysAsItIs) {
  for (const std::string word : {"success", "denied", "budget_ceiling_reached"}) {
    const RunId run = start().id;
    runs_.steps().commit(run, {.step = 1});
    runs_.finish(run, RunEnd::from_word(word));
    const Run before = runs_.get(run);
    for (int twice = 0; twice < 2; ++twice) {
      EXPECT_EQ(resume(run), (ResumePoint{.committed = 1, .from_step = 2, .resumed = false}));
      EXPECT_EQ(runs_.get(run), before) << word;
    }
  }
}

TEST_F(RunResumeTest, ARunThatRanOutOfItsHarnesssBudgetGoesOn) {
  for (const std::string word :
       {"step_cap_reached", "time_budget_exceeded", "cost_budget_exceeded", "escalated", "odd"}) {
    runs_.finish(run_, RunEnd::from_word(word));
    EXPECT_EQ(resume(run_), behind_two_) << word;
    EXPECT_EQ(runs_.get(run_).lifecycle, RunLifecycle::active);
    EXPECT_EQ(runs_.get(run_).outcome_text, std::nullopt);
  }
  expect_sound(run_);
}

TEST_F(RunResumeTest, ABudgetOfTheStoreHasToBeRaisedFirst) {
  const RunId run = start({.max_turns = 1}).id;
  runs_.accounts().request_model(run);
  runs_.finish(run, RunEnd::limit_exceeded(RunReason::model_turns));
  EXPECT_EQ(error_of([&] { resume(run); }), ErrorCode::conflict);
  runs_.accounts().raise(run, {.max_turns = 2});
  EXPECT_TRUE(resume(run).resumed);
}

TEST_F(RunResumeTest, APausedRunIsContinued) {
  runs_.finish(run_, RunEnd::from_word("awaiting_approval"));
  now_ += 2000;
  EXPECT_EQ(resume(run_), behind_two_);
  EXPECT_EQ(runs_.get(run_).suspended_ms, 2000);
  EXPECT_EQ(newest_payload(run_)["previous_status"], "paused");
  EXPECT_NE(runs_.latest_suspension(run_)->continued_at, std::nullopt);
  expect_sound(run_);
}

TEST_F(RunResumeTest, AnUnknownEffectHasToBeAnsweredFirst) {
  started_call(run_, "c");
  const HeldRun held = runs_.take_over(run_, "test");
  ASSERT_EQ(held.run.reason_code, RunReason::effect_unknown);
  EXPECT_EQ(refusal(), ErrorCode::conflict);
  runs_.answer_effect(
      run_, {.call = CallId("c"), .kind = EffectAnswer::Kind::completed, .answered_by = "ann"});
  EXPECT_EQ(runs_.holding(run_, held.lease.token()).steps().resume(run_), behind_two_);
}

TEST_F(RunResumeTest, AnEffectThatWasLeftBehindKeepsAStoppedRunStopped) {
  started_call(run_, "c");
  runs_.finish(run_, RunEnd::failed("x"));
  EXPECT_EQ(refusal(), ErrorCode::conflict);
}

TEST_F(RunResumeTest, WhatACallDelegatedIsNotResumedByItself) {
  const RunId child = delegate(run_, "c").id;
  runs_.finish(child, RunEnd::failed("x"));
  EXPECT_EQ(error_of([&] { resume(child); }), ErrorCode::conflict);
}

TEST_F(RunResumeTest, AStoppedTreeOfSpawnsGoesOnAndAdoptsItsChildren) {
  const NewSpawn spawn{.parent = run_, .step = 3, .goal = "part"};
  const RunId child = runs_.tree().spawn(spawn).child.id;
  runs_.finish(run_, RunEnd::from_word("time_budget_exceeded"));
  EXPECT_EQ(runs_.get(child).outcome, RunOutcome::failed);
  EXPECT_EQ(resume(run_), behind_two_);
  EXPECT_TRUE(runs_.tree().spawn(spawn).adopted);
  EXPECT_TRUE(resume(child).resumed);
  EXPECT_EQ(runs_.tree().ids(run_).size(), 2U);
  expect_sound(run_);
  expect_sound(child);
}

TEST_F(RunResumeTest, AReopenedRunShowsBehindWhichStepToo) {
  runs_.finish(run_, RunEnd::failed("x"));
  runs_.reopen(run_, runs_.get(run_).last_sequence);
  EXPECT_EQ(newest_payload(run_)["from_step"], 3);
}

TEST_F(RunResumeTest, ElapsedTimeGrowsUntilTheEndAndThenStands) {
  now_ += 1000;
  EXPECT_EQ(runs_.get(run_).elapsed_ms, 1000);
  resume(run_);
  now_ += 120;
  EXPECT_EQ(runs_.get(run_).elapsed_ms, 1120);
  runs_.finish(run_, RunEnd::completed("x"));
  now_ += 5000;
  EXPECT_EQ(runs_.get(run_).elapsed_ms, 1120);
  EXPECT_DOUBLE_EQ(runs_.trace().elapsed_secs(run_), 1.12);
}

}  // namespace
}  // namespace threadstore::test
