#include <thread>

#include "tests/state/runs/run_fixture.h"

namespace threadstore::test {
namespace {

using testing::ElementsAre;
using testing::Optional;
using Json = nlohmann::json;

class RunContinueTest : public RunFixture {
 protected:
  Run ask(const RunId& run) {
    return runs_.finish(run, RunEnd::needs_user_input(RunReason::decision_required, "Left?"));
  }
  Continuation answer(const Run& run) const {
    return {.expected_sequence = run.last_sequence,
            .suspension_sequence = run.last_sequence,
            .input = "left"};
  }
  std::optional<ErrorCode> refused(const RunId& run, const Continuation& continuation) {
    return error_of([&] { runs_.continue_suspended(run, continuation); });
  }
};

TEST_F(RunContinueTest, ASuspendedRunGoesOnAndItsDeadlineMoves) {
  const RunId run = start({.timeout_seconds = 10}).id;
  RunEnd end = RunEnd::needs_user_input(RunReason::decision_required, "Left?");
  end.assistant_message = R"({"role":"assistant"})";
  const Run waiting = runs_.finish(run, end);
  EXPECT_EQ(runs_.latest_suspension(run),
            (RunSuspension{.sequence = 2,
                           .outcome = RunOutcome::needs_user_input,
                           .reason_code = RunReason::decision_required,
                           .prompt = "Left?",
                           .assistant_message = R"({"role":"assistant"})",
                           .suspended_at = now_}));
  now_ += 60'000;
  Continuation go = answer(waiting);
  go.checkpoint = NewRunCheckpoint{.schema_version = 2, .turn = 4, .state = R"({"n": 1.0})"};
  const Run on = runs_.continue_suspended(run, go);
  EXPECT_EQ(on.lifecycle, RunLifecycle::active);
  EXPECT_EQ(on.outcome, std::nullopt);
  EXPECT_EQ(on.completed_at, std::nullopt);
  EXPECT_EQ(on.suspended_ms, 60'000);
  EXPECT_EQ(on.elapsed_ms, 60'000);
  EXPECT_EQ(on.execution_elapsed_ms, 0);
  EXPECT_EQ(on.recovery_disposition, RecoveryDisposition::resume_eligible);
  EXPECT_THAT(types(run), ElementsAre("run.started", "run.needs_user_input", "checkpoint.created",
                                      "run.continued"));
  const std::string deadline = std::to_string(on.created_at + 70'000);
  EXPECT_EQ(runs_.checkpoints().latest(run)->state,
            R"({"n": 1.0,"suspended_ms":60000,"original_deadline":)" + deadline + "}");
  const Json event = newest_payload(run);
  EXPECT_EQ(event["prior_outcome"], "needs_user_input");
  EXPECT_EQ(event["suspension_sequence"], 2);
  EXPECT_EQ(event["continuation_bytes"], 4);
  EXPECT_EQ(event["suspended_ms"], 60'000);
  EXPECT_FALSE(event.contains("clock_went_back_ms"));
  EXPECT_EQ(runs_.latest_suspension(run)->continuation_input, "left");
  EXPECT_EQ(runs_.latest_suspension(run)->continued_at, now_.load());
  expect_sound(run);
}

TEST_F(RunContinueTest, AStateThatNamesTheWaitItselfIsPatched) {
  const RunId run = start().id;
  Continuation go = answer(ask(run));
  go.checkpoint = NewRunCheckpoint{.state = R"({"suspended_ms":1,"x":2})"};
  now_ += 7;
  runs_.continue_suspended(run, go);
  EXPECT_EQ(Json::parse(runs_.checkpoints().latest(run)->state),
            (Json{{"suspended_ms", 7}, {"x", 2}}));
  Continuation list = answer(ask(run));
  list.checkpoint = NewRunCheckpoint{.state = "[1]"};
  runs_.continue_suspended(run, list);
  EXPECT_EQ(runs_.checkpoints().latest(run)->state, "[1]");
  Continuation empty = answer(ask(run));
  empty.checkpoint = NewRunCheckpoint{.state = "{ }"};
  runs_.continue_suspended(run, empty);
  EXPECT_EQ(runs_.checkpoints().latest(run)->state, R"({ "suspended_ms":7})");
}

TEST_F(RunContinueTest, EveryGuardLeavesTheRunAsItIs) {
  const RunId run = start().id;
  EXPECT_EQ(refused(run, answer(runs_.get(run))), ErrorCode::conflict);
  const Run waiting = ask(run);
  Continuation bad = answer(waiting);
  bad.expected_sequence = 1;
  EXPECT_EQ(refused(run, bad), ErrorCode::conflict);
  bad = answer(waiting);
  bad.suspension_sequence = 1;
  EXPECT_EQ(refused(run, bad), ErrorCode::conflict);
  for (const auto& spoil : std::vector<std::function<void(Continuation&)>>{
           [](Continuation& c) { c.input = " "; },
           [](Continuation& c) { c.input = std::string(8193, 'x'); },
           [](Continuation& c) { c.expected_sequence = 0; },
           [](Continuation& c) { c.suspension_sequence = 0; },
           [](Continuation& c) { c.checkpoint = NewRunCheckpoint{.schema_version = 0}; },
           [](Continuation& c) { c.checkpoint = NewRunCheckpoint{.turn = -1}; },
           [](Continuation& c) { c.checkpoint = NewRunCheckpoint{.state = "{"}; }}) {
    bad = answer(waiting);
    spoil(bad);
    EXPECT_EQ(refused(run, bad), ErrorCode::invalid_argument);
  }
  EXPECT_EQ(runs_.get(run), waiting);
  Continuation longest = answer(waiting);
  longest.input = std::string(8192, 'x');
  runs_.continue_suspended(run, longest);
  EXPECT_EQ(refused(run, longest), ErrorCode::conflict);
  // A run that is over has no suspension to answer, also one that was given up in it.
  const Run last = ask(run);
  const Run over = runs_.abandon(run);
  EXPECT_EQ(refused(run, answer(last)), ErrorCode::conflict);
  Continuation late = answer(last);
  late.expected_sequence = over.last_sequence;
  EXPECT_EQ(refused(run, late), ErrorCode::conflict);
  EXPECT_EQ(runs_.get(run), over);
  const Run done = runs_.finish(start().id, RunEnd::completed(""));
  EXPECT_EQ(refused(done.id, answer(done)), ErrorCode::conflict);
}

TEST_F(RunContinueTest, AClockThatWentBackCountsAsNoWait) {
  const RunId run = start().id;
  const Run waiting = ask(run);
  now_ -= 500;
  EXPECT_EQ(runs_.continue_suspended(run, answer(waiting)).suspended_ms, 0);
  EXPECT_EQ(newest_payload(run)["clock_went_back_ms"], 500);
}

TEST_F(RunContinueTest, ADeadlineBeyondTheEndOfTimeIsRefused) {
  const RunId run = start({.timeout_seconds = 9'223'372'036'854'775'807}).id;
  const Run waiting = ask(run);
  EXPECT_EQ(refused(run, answer(waiting)), ErrorCode::conflict);
  EXPECT_EQ(runs_.get(run).lifecycle, RunLifecycle::suspended);
}

TEST_F(RunContinueTest, ASuspendedRunCanBeAbandoned) {
  const RunId run = start().id;
  ask(run);
  const Run over = runs_.abandon(run, "nobody answers");
  EXPECT_EQ(over.lifecycle, RunLifecycle::terminal);
  EXPECT_EQ(over.outcome, RunOutcome::cancelled);
  EXPECT_EQ(over.reason_code, RunReason::abandoned);
  EXPECT_EQ(types(run).back(), "run.abandoned");
  EXPECT_EQ(newest_payload(run)["prior_reason_code"], "decision_required");
  expect_sound(run);
}

TEST_F(RunContinueTest, ARunThatWaitsForAnApprovalKeepsTheCall) {
  const RunId run = start().id;
  const CallId c("c");
  runs_.calls().request(run, {c, "sh"});
  runs_.calls().request_approval(run, c, {Capability::process_execute});
  const Run waiting =
      runs_.finish(run, RunEnd::needs_user_input(RunReason::approval_required, "May I?"));
  EXPECT_EQ(waiting.recovery_disposition, RecoveryDisposition::suspended);
  EXPECT_EQ(runs_.calls().get(run, c).status, CallStatus::requested);
  runs_.calls().decide(run, c, {.decision = ApprovalDecision::granted, .decided_by = "ann"});
  Continuation go = answer(waiting);
  go.expected_sequence = runs_.get(run).last_sequence;
  EXPECT_EQ(runs_.continue_suspended(run, go).lifecycle, RunLifecycle::active);
  runs_.calls().start(run, c);
  runs_.calls().finish(run, c, CallOutcome::completed("1"));
  runs_.finish(run, RunEnd::completed("done"));
  expect_sound(run);
}

TEST_F(RunContinueTest, ARunWithARunningCallCannotWaitForAnApproval) {
  const RunId run = start().id;
  started_call(run, "c");
  EXPECT_EQ(error_of([&] {
              runs_.finish(run, RunEnd::needs_user_input(RunReason::approval_required, "?"));
            }),
            ErrorCode::conflict);
}

TEST_F(RunContinueTest, CallsThatNeverRanDoNotSpoilARunThatWasSuspended) {
  const RunId run = start().id;
  runs_.calls().request(run, {CallId("c"), "sh"});
  runs_.continue_suspended(run, answer(ask(run)));
  EXPECT_EQ(runs_.calls().get(run, CallId("c")).outcome_class, CallOutcomeClass::interrupted);
  runs_.checkpoints().save(run, {});
  EXPECT_EQ(runs_.recovery_disposition(run), RecoveryDisposition::resume_eligible);
  runs_.finish(run, RunEnd::failed("x"));
  EXPECT_EQ(runs_.reopen(run, runs_.get(run).last_sequence).lifecycle, RunLifecycle::active);
}

TEST_F(RunContinueTest, AFailedCancelledOrActiveRunIsReopenedWithTheExpectedSequence) {
  for (const RunEnd& end : {RunEnd::failed("x", RunReason::model_error), RunEnd::cancelled()}) {
    const RunId run = start().id;
    runs_.checkpoints().save(run, {});
    const Run stopped = runs_.finish(run, end);
    EXPECT_EQ(error_of([&] { runs_.reopen(run, stopped.last_sequence - 1); }), ErrorCode::conflict);
    EXPECT_EQ(error_of([&] { runs_.reopen(run, 0); }), ErrorCode::invalid_argument);
    EXPECT_EQ(runs_.get(run), stopped);
    const Run open = runs_.reopen(run, stopped.last_sequence);
    EXPECT_EQ(open.lifecycle, RunLifecycle::active);
    EXPECT_EQ(open.error, std::nullopt);
    EXPECT_EQ(open.completed_at, std::nullopt);
    EXPECT_EQ(open.recovery_disposition, RecoveryDisposition::resume_eligible);
    EXPECT_EQ(newest_payload(run), (Json{{"previous_status", legacy_status(stopped)},
                                         {"previous_sequence", stopped.last_sequence}}));
    EXPECT_EQ(error_of([&] { runs_.reopen(run, stopped.last_sequence); }), ErrorCode::conflict);
    expect_sound(run);
  }
  const RunId running = start().id;
  EXPECT_EQ(runs_.reopen(running, 1).last_sequence, 2);
  EXPECT_EQ(newest_payload(running)["previous_status"], "running");
}

TEST_F(RunContinueTest, UnsafeCallsBlockAReopeningAndSafeOnesDoNot) {
  const auto reopens = [&](const std::function<void(const RunId&)>& leave) {
    const RunId run = start().id;
    leave(run);
    return !error_of([&] { runs_.reopen(run, runs_.get(run).last_sequence); });
  };
  const CallId c("c");
  EXPECT_TRUE(reopens([&](const RunId& run) { runs_.calls().request(run, {c, "sh"}); }));
  EXPECT_FALSE(reopens([&](const RunId& run) { started_call(run, "c"); }));
  EXPECT_FALSE(reopens([&](const RunId& run) {
    runs_.calls().finish(run, started_call(run, "c"), CallOutcome::failed("e"));
  }));
  EXPECT_FALSE(reopens([&](const RunId& run) {
    runs_.calls().finish(run, started_call(run, "c"), CallOutcome::uncertain("x", "e"));
  }));
  EXPECT_TRUE(reopens([&](const RunId& run) {
    runs_.calls().finish(run, started_call(run, "c"), CallOutcome::completed("1"));
  }));
  EXPECT_TRUE(reopens([&](const RunId& run) {
    runs_.calls().finish(run, started_call(run, "c"),
                         CallOutcome::recoverable("x", "e", "1", "t", "k"));
  }));
  EXPECT_TRUE(reopens([&](const RunId& run) {
    runs_.calls().request(run, {c, "sh"});
    runs_.calls().finish(run, c, CallOutcome::denied("no"));
  }));
}

TEST_F(RunContinueTest, RelativesAreNotReopened) {
  const RunId root = start().id;
  const RunId child = delegate(root, "c").id;
  runs_.calls().finish(root, CallId("c"), CallOutcome::completed("1"));
  runs_.finish(child, RunEnd::failed("x"));
  EXPECT_EQ(error_of([&] { runs_.reopen(child, runs_.get(child).last_sequence); }),
            ErrorCode::conflict);
  EXPECT_EQ(error_of([&] { runs_.reopen(root, runs_.get(root).last_sequence); }),
            ErrorCode::conflict);
}

TEST_F(RunContinueTest, ALimitedRunIsReopenedOnceItsBudgetWasRaised) {
  const RunId run = start({.max_turns = 1}).id;
  runs_.checkpoints().save(run, {});
  runs_.accounts().request_model(run);
  const Run limited = runs_.finish(run, RunEnd::limit_exceeded(RunReason::model_turns));
  EXPECT_EQ(limited.recovery_disposition, RecoveryDisposition::restart_required);
  EXPECT_EQ(error_of([&] { runs_.reopen(run, limited.last_sequence); }), ErrorCode::conflict);
  const Run raised = runs_.accounts().raise(run, {.max_turns = 5});
  EXPECT_EQ(raised.recovery_disposition, RecoveryDisposition::resume_eligible);
  EXPECT_EQ(runs_.reopen(run, raised.last_sequence).lifecycle, RunLifecycle::active);
  EXPECT_TRUE(runs_.accounts().request_model(run).allowed());
  expect_sound(run);
}

TEST_F(RunContinueTest, OfConcurrentReopeningsOneWins) {
  const RunId run = start().id;
  runs_.finish(run, RunEnd::failed("x"));
  std::atomic<int> won = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back(
        [&] { won += !error_of([&] { Runs(store_.runs("/work")).reopen(run, 2); }); });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(won, 1);
  EXPECT_THAT(types(run), ElementsAre("run.started", "run.failed", "run.resumed"));
}

}  // namespace
}  // namespace threadstore::test
