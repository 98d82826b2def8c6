#include "tests/state/runs/run_fixture.h"

namespace threadstore::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class RunRecoveryTest : public RunFixture {
 protected:
  RecoveryDisposition disposition(const RunId& run) const {
    return runs_.recovery_disposition(run);
  }
  /// A run whose executor is gone in the middle of the calls.
  Run left_behind(const std::vector<std::string>& calls) {
    const RunId run = start().id;
    for (const std::string& call : calls) started_call(run, call);
    return runs_.acquire(run, "rescuer").run;
  }
  Run answer(const RunId& run, const std::string& call, EffectAnswer::Kind kind) {
    return runs_.answer_effect(
        run, {.call = CallId(call), .kind = kind, .observation = "[7]", .answered_by = "ann"});
  }
};

TEST_F(RunRecoveryTest, FreshCheckpointedSuspendedAndCompletedRunsDiffer) {
  const RunId run = start().id;
  EXPECT_EQ(disposition(run), RecoveryDisposition::restart_required);
  runs_.checkpoints().save(run, {});
  EXPECT_EQ(disposition(run), RecoveryDisposition::resume_eligible);
  EXPECT_EQ(runs_.list().items.at(0).recovery_disposition, RecoveryDisposition::resume_eligible);
  runs_.finish(run, RunEnd::blocked(RunReason::external_dependency, "down"));
  EXPECT_EQ(disposition(run), RecoveryDisposition::suspended);
  const RunId other = start().id;
  EXPECT_EQ(runs_.finish(other, RunEnd::completed("")).recovery_disposition,
            RecoveryDisposition::complete);
}

TEST_F(RunRecoveryTest, ACallThatStartedNeedsReconciliationAlsoWithoutACheckpoint) {
  const RunId run = start().id;
  runs_.calls().request(run, {CallId("c"), "sh"});
  EXPECT_EQ(disposition(run), RecoveryDisposition::restart_required);
  runs_.calls().start(run, CallId("c"));
  EXPECT_EQ(disposition(run), RecoveryDisposition::reconciliation_required);
}

TEST_F(RunRecoveryTest, ACallThatWasOnlyRequestedAfterTheCheckpointIsSafe) {
  const RunId run = start().id;
  runs_.checkpoints().save(run, {});
  runs_.calls().request(run, {CallId("c"), "sh"});
  EXPECT_EQ(disposition(run), RecoveryDisposition::resume_eligible);
  runs_.calls().finish(run, CallId("c"), CallOutcome::denied("no"));
  EXPECT_EQ(disposition(run), RecoveryDisposition::resume_eligible);
}

TEST_F(RunRecoveryTest, EffectsThatTheCheckpointDoesNotKnowNeedReconciliation) {
  const RunId called = start().id;
  runs_.checkpoints().save(called, {});
  runs_.calls().finish(called, started_call(called, "c"), CallOutcome::completed("1"));
  EXPECT_EQ(disposition(called), RecoveryDisposition::reconciliation_required);
  runs_.checkpoints().save(called, {.turn = 1});
  EXPECT_EQ(disposition(called), RecoveryDisposition::resume_eligible);
  runs_.artifacts().record(called, {"a", std::string(64, '0'), 1});
  EXPECT_EQ(disposition(called), RecoveryDisposition::reconciliation_required);
}

TEST_F(RunRecoveryTest, RelativesRestart) {
  const RunId root = start().id;
  const RunId child = delegate(root, "c").id;
  runs_.calls().finish(root, CallId("c"), CallOutcome::completed("1"));
  runs_.checkpoints().save(root, {});
  runs_.checkpoints().save(child, {});
  EXPECT_EQ(disposition(root), RecoveryDisposition::restart_required);
  EXPECT_EQ(disposition(child), RecoveryDisposition::restart_required);
}

TEST_F(RunRecoveryTest, TheDeadlineMovesWithSuspensions) {
  const RunId run = start({.timeout_seconds = 10}).id;
  runs_.checkpoints().save(run, {});
  const Run waiting =
      runs_.finish(run, RunEnd::needs_user_input(RunReason::decision_required, "?"));
  now_ += 60'000;
  runs_.continue_suspended(run, {.expected_sequence = waiting.last_sequence,
                                 .suspension_sequence = waiting.last_sequence,
                                 .input = "go"});
  now_ += 9'999;
  EXPECT_EQ(disposition(run), RecoveryDisposition::resume_eligible);
  now_ += 1;
  EXPECT_EQ(disposition(run), RecoveryDisposition::restart_required);
}

TEST_F(RunRecoveryTest, ATokenBudgetWithoutAResponseIsNotUsedUp) {
  const RunId run = start({.max_turns = 2, .max_total_tokens = 5, .max_tool_calls = 1}).id;
  runs_.checkpoints().save(run, {});
  EXPECT_EQ(disposition(run), RecoveryDisposition::resume_eligible);
  runs_.accounts().record_response(run, TokenUsage{0, 0, 4});
  EXPECT_EQ(disposition(run), RecoveryDisposition::resume_eligible);
  runs_.accounts().record_response(run, TokenUsage{0, 0, 1});
  EXPECT_EQ(disposition(run), RecoveryDisposition::restart_required);
  const RunId unknown = start({.max_total_tokens = 5}).id;
  runs_.checkpoints().save(unknown, {});
  runs_.accounts().record_response(unknown, std::nullopt);
  EXPECT_EQ(disposition(unknown), RecoveryDisposition::restart_required);
  const RunId turns = start({.max_turns = 1}).id;
  runs_.checkpoints().save(turns, {});
  runs_.accounts().request_model(turns);
  EXPECT_EQ(disposition(turns), RecoveryDisposition::restart_required);
}

TEST_F(RunRecoveryTest, ALeaseIsHeldByOneAndItsWritesStopWhenItIsTakenOver) {
  const RunId run = start().id;
  HeldRun first = runs_.acquire(run, "first");
  EXPECT_FALSE(first.run.interrupted);
  EXPECT_EQ(error_of([&] { runs_.acquire(run, "second"); }), ErrorCode::conflict);
  Runs held = runs_.holding(run, first.lease.token());
  held.log().append(run, "note.first");
  const HeldRun second = runs_.take_over(run, "second");
  EXPECT_GT(second.lease.token().generation, first.lease.token().generation);
  EXPECT_EQ(error_of([&] { held.log().append(run, "note.late"); }), ErrorCode::conflict);
  EXPECT_EQ(error_of([&] { held.finish(run, RunEnd::completed("late")); }), ErrorCode::conflict);
  EXPECT_EQ(error_of([&] { held.accounts().request_model(run); }), ErrorCode::conflict);
  runs_.holding(run, second.lease.token()).log().append(run, "note.second");
  EXPECT_THAT(types(run),
              ElementsAre("run.started", "note.first", "run.taken_over", "note.second"));
  const auto told = payload(run, 3);
  EXPECT_EQ(told["by"], "second");
  EXPECT_EQ(told["from"], "first");
  EXPECT_EQ(told["was_alive"], true);
}

TEST_F(RunRecoveryTest, AnExecutorMayNotReopenWhatALivingOneHolds) {
  const RunId run = start().id;
  const HeldRun held = runs_.acquire(run, "executor");
  EXPECT_EQ(error_of([&] { runs_.reopen(run, 1); }), ErrorCode::conflict);
  EXPECT_EQ(runs_.holding(run, held.lease.token()).reopen(run, 1).last_sequence, 2);
}

TEST_F(RunRecoveryTest, ACallWithoutAnEndSuspendsTheRunAtTakeOver) {
  const Run run = left_behind({"a", "b"});
  EXPECT_EQ(run.lifecycle, RunLifecycle::suspended);
  EXPECT_EQ(run.reason_code, RunReason::effect_unknown);
  EXPECT_EQ(runs_.calls().get(run.id, CallId("a")).status, CallStatus::indeterminate);
  EXPECT_THAT(runs_.latest_suspension(run.id)->prompt, HasSubstr("a (sh), b (sh)"));
  EXPECT_THAT(types(run.id), ElementsAre("run.started", "tool.requested", "tool.started",
                                         "tool.requested", "tool.started", "tool.indeterminate",
                                         "tool.indeterminate", "run.blocked"));
  EXPECT_EQ(error_of([&] {
              runs_.continue_suspended(run.id, {.expected_sequence = run.last_sequence,
                                                .suspension_sequence = run.last_sequence,
                                                .input = "go"});
            }),
            ErrorCode::conflict);
  expect_sound(run.id);
}

TEST_F(RunRecoveryTest, TheRunGoesOnAfterTheLastAnswer) {
  const RunId run = left_behind({"a", "b"}).id;
  now_ += 1000;
  EXPECT_EQ(answer(run, "a", EffectAnswer::Kind::completed).lifecycle, RunLifecycle::suspended);
  EXPECT_EQ(error_of([&] { answer(run, "a", EffectAnswer::Kind::retry); }), ErrorCode::conflict);
  const Run on = answer(run, "b", EffectAnswer::Kind::retry);
  EXPECT_EQ(on.lifecycle, RunLifecycle::active);
  EXPECT_EQ(on.suspended_ms, 1000);
  EXPECT_EQ(runs_.calls().get(run, CallId("a")).result, "[7]");
  EXPECT_EQ(runs_.calls().get(run, CallId("b")).status, CallStatus::requested);
  const auto events = types(run);
  EXPECT_THAT((std::vector<std::string>(events.end() - 3, events.end())),
              ElementsAre("tool.completed", "tool.retried", "run.continued"));
  runs_.calls().start(run, CallId("b"));
  runs_.calls().finish(run, CallId("b"), CallOutcome::completed("1"));
  runs_.finish(run, RunEnd::completed("done"));
  EXPECT_EQ(runs_.get(run).usage.tool_calls, 3);
  expect_sound(run);
}

TEST_F(RunRecoveryTest, AnAbortGivesTheRunUp) {
  const RunId run = left_behind({"a", "b"}).id;
  const Run over = answer(run, "a", EffectAnswer::Kind::abort);
  EXPECT_EQ(over.outcome, RunOutcome::cancelled);
  EXPECT_EQ(over.reason_code, RunReason::abandoned);
  for (const RunCall& call : runs_.calls().list(run)) {
    EXPECT_EQ(call.outcome_class, CallOutcomeClass::uncertain_side_effect);
  }
  expect_sound(run);
}

TEST_F(RunRecoveryTest, CallsThatNeverStartedSurviveATakeOver) {
  const RunId run = start().id;
  const CallId c("c");
  runs_.calls().request(run, {c, "sh"});
  runs_.calls().request_approval(run, c, {Capability::network});
  const HeldRun rescued = runs_.take_over(run, "rescuer");
  EXPECT_EQ(rescued.run.lifecycle, RunLifecycle::active);
  EXPECT_EQ(runs_.calls().get(run, c).status, CallStatus::requested);
  runs_.calls().decide(run, c, {.decision = ApprovalDecision::granted, .decided_by = "ann"});
  EXPECT_EQ(runs_.calls().start(run, c).status, CallStatus::started);
}

TEST_F(RunRecoveryTest, ACallThatMadeAChildIsKnownByItsChild) {
  const RunId root = start().id;
  delegate(root, "c");
  EXPECT_EQ(runs_.acquire(root, "rescuer").run.lifecycle, RunLifecycle::active);
  EXPECT_EQ(runs_.calls().get(root, CallId("c")).status, CallStatus::started);
}

TEST_F(RunRecoveryTest, AnExecutorCanSayItselfThatItLostTrack) {
  const RunId run = start().id;
  const RunEnd lost = RunEnd::blocked(RunReason::effect_unknown, "the connection broke");
  EXPECT_EQ(error_of([&] { runs_.finish(run, lost); }), ErrorCode::conflict);
  started_call(run, "c");
  runs_.finish(run, lost);
  EXPECT_EQ(runs_.calls().get(run, CallId("c")).status, CallStatus::indeterminate);
  EXPECT_EQ(error_of([&] { runs_.answer_effect(run, {.call = CallId("c"), .answered_by = " "}); }),
            ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace threadstore::test
