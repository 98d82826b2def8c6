#include "tests/state/runs/run_fixture.h"

namespace threadstore::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Json = nlohmann::json;

class RunStopTest : public RunFixture {
 protected:
  RunCall call(const RunId& run, const std::string& id) const {
    return runs_.calls().get(run, CallId(id));
  }
};

TEST_F(RunStopTest, ACompletedRunKeepsItsOutputAndTakesNothingMore) {
  const RunId run = start().id;
  now_ += 1500;
  const Run done = runs_.finish(run, RunEnd::completed("the answer"));
  EXPECT_EQ(done.lifecycle, RunLifecycle::terminal);
  EXPECT_EQ(done.outcome, RunOutcome::completed);
  EXPECT_EQ(done.reason_code, RunReason::final_response);
  EXPECT_EQ(done.reason_detail, "{}");
  EXPECT_EQ(done.output, "the answer");
  EXPECT_EQ(done.error, std::nullopt);
  EXPECT_EQ(done.completed_at, now_.load());
  EXPECT_EQ(done.completed_at, done.updated_at);
  EXPECT_EQ(done.recovery_disposition, RecoveryDisposition::complete);
  EXPECT_EQ(legacy_status(done), "completed");
  now_ += 9000;
  EXPECT_EQ(runs_.get(run).elapsed_ms, 1500);
  const Json event = newest_payload(run);
  EXPECT_EQ(event["output_bytes"], 10);
  EXPECT_EQ(event["lifecycle"], "terminal");
  EXPECT_EQ(event["usage"]["model_turns"], 0);
  const auto refused = ErrorCode::conflict;
  EXPECT_EQ(error_of([&] { runs_.finish(run, RunEnd::completed("again")); }), refused);
  EXPECT_EQ(error_of([&] { runs_.checkpoints().save(run, {}); }), refused);
  EXPECT_EQ(error_of([&] { runs_.calls().request(run, {CallId("c"), "t"}); }), refused);
  EXPECT_EQ(error_of([&] {
              runs_.artifacts().record(run, {"a", std::string(64, '0'), 1});
            }),
            refused);
  EXPECT_EQ(error_of([&] { runs_.accounts().request_model(run); }), refused);
  EXPECT_EQ(error_of([&] { runs_.reopen(run, 2); }), refused);
  EXPECT_EQ(error_of([&] { runs_.abandon(run); }), refused);
  EXPECT_EQ(types(run).size(), 2U);
  expect_sound(run);
}

TEST_F(RunStopTest, EachEndHasItsWords) {
  const auto end = [&](const RunEnd& how) { return runs_.finish(start().id, how); };
  const Run failed = end(RunEnd::failed("boom", RunReason::model_error, R"({"status":500})"));
  EXPECT_EQ(failed.reason_code, RunReason::model_error);
  EXPECT_EQ(failed.reason_detail, R"({"status":500})");
  EXPECT_EQ(failed.error, "boom");
  EXPECT_EQ(end(RunEnd::failed("x")).reason_code, RunReason::legacy_failure);
  const Run limited = end(RunEnd::limit_exceeded(RunReason::model_turns));
  EXPECT_EQ(limited.outcome, RunOutcome::limit_exceeded);
  EXPECT_EQ(limited.error, "the limit of model turns was reached");
  EXPECT_EQ(legacy_status(limited), "failed");
  const Run cancelled = end(RunEnd::cancelled());
  EXPECT_EQ(cancelled.reason_code, RunReason::cancellation_requested);
  EXPECT_EQ(legacy_status(cancelled), "cancelled");
  const Run blocked = end(RunEnd::blocked(RunReason::external_dependency, "the API is down"));
  EXPECT_EQ(blocked.lifecycle, RunLifecycle::suspended);
  EXPECT_EQ(legacy_status(blocked), "failed");
  EXPECT_EQ(blocked.reason_detail, R"({"message":"the API is down"})");
  EXPECT_EQ(blocked.error, std::nullopt);
  EXPECT_EQ(types(blocked.id).back(), "run.blocked");
  EXPECT_EQ(error_of([&] { runs_.reopen(blocked.id, blocked.last_sequence); }),
            ErrorCode::conflict);
}

TEST_F(RunStopTest, AReasonOfAnotherOutcomeIsRefused) {
  const auto bad = ErrorCode::invalid_argument;
  EXPECT_EQ(error_of([] { RunEnd::failed("x", RunReason::model_turns); }), bad);
  EXPECT_EQ(error_of([] { RunEnd::blocked(RunReason::tool_error, "x"); }), bad);
  EXPECT_EQ(error_of([] { RunEnd::needs_user_input(RunReason::duration, "x"); }), bad);
  EXPECT_EQ(error_of([] { RunEnd::limit_exceeded(RunReason::abandoned); }), bad);
  const RunId run = start().id;
  EXPECT_EQ(error_of([&] { runs_.finish(run, {.reason = RunReason::ancestor_cancelled}); }), bad);
  EXPECT_EQ(error_of([&] { runs_.finish(run, RunEnd::failed("x", RunReason::tool_error, "[1]")); }),
            bad);
}

TEST_F(RunStopTest, AQuestionIsNotBlank) {
  const RunId run = start().id;
  EXPECT_EQ(error_of([&] {
              runs_.finish(run, RunEnd::needs_user_input(RunReason::decision_required, " \n"));
            }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(runs_.get(run).lifecycle, RunLifecycle::active);
}

TEST_F(RunStopTest, AnUnfinishedCallForbidsCompletion) {
  const RunId run = start().id;
  runs_.calls().request(run, {CallId("c"), "sh"});
  EXPECT_EQ(error_of([&] { runs_.finish(run, RunEnd::completed("")); }), ErrorCode::conflict);
  runs_.calls().start(run, CallId("c"));
  EXPECT_EQ(error_of([&] { runs_.finish(run, RunEnd::completed("")); }), ErrorCode::conflict);
  runs_.calls().finish(run, CallId("c"), CallOutcome::failed("e"));
  EXPECT_EQ(runs_.finish(run, RunEnd::completed("")).outcome, RunOutcome::completed);
}

TEST_F(RunStopTest, StoppingClosesOpenCallsAndTheirApprovals) {
  const RunId run = start().id;
  runs_.calls().request(run, {CallId("asked"), "sh"});
  runs_.calls().request_approval(run, CallId("asked"), {Capability::network});
  started_call(run, "ran");
  runs_.finish(run, RunEnd::failed("out of luck"));
  EXPECT_THAT(types(run), ElementsAre("run.started", "tool.requested", "approval.requested",
                                      "tool.requested", "tool.started", "approval.denied",
                                      "tool.failed", "tool.failed", "run.failed"));
  EXPECT_EQ(payload(run, 6), (Json{{"call_id", "asked"}, {"reason", "run interrupted"}}));
  EXPECT_EQ(payload(run, 8)["message"], "run interrupted");
  EXPECT_EQ(call(run, "asked").outcome_class, CallOutcomeClass::interrupted);
  EXPECT_EQ(call(run, "ran").outcome_class, CallOutcomeClass::terminal_error);
  EXPECT_EQ(call(run, "ran").completed_at, now_.load());
  EXPECT_EQ(error_of([&] { runs_.calls().decide(run, CallId("asked"), {.decided_by = "late"}); }),
            ErrorCode::conflict);
  expect_sound(run);
}

TEST_F(RunStopTest, CancellingGivesStartedCallsTheClassCancelled) {
  const RunId run = start().id;
  started_call(run, "ran");
  runs_.finish(run, RunEnd::cancelled());
  EXPECT_EQ(call(run, "ran").outcome_class, CallOutcomeClass::cancelled);
}

TEST_F(RunStopTest, ACompletionIsRefusedWhileAChildRuns) {
  const RunId root = start().id;
  const RunId child = delegate(root, "c").id;
  runs_.calls().finish(root, CallId("c"), CallOutcome::completed("1"));
  EXPECT_EQ(error_of([&] { runs_.finish(root, RunEnd::completed("")); }), ErrorCode::conflict);
  runs_.finish(child, RunEnd::completed("part"));
  EXPECT_EQ(types(root).back(), "delegation.finished");
  const Json told = newest_payload(root);
  EXPECT_EQ(told["call_id"], "c");
  EXPECT_EQ(told["child_run_id"], child.str());
  EXPECT_EQ(told["outcome"], "completed");
  EXPECT_EQ(told["usage"]["tool_calls"], 0);
  EXPECT_EQ(runs_.finish(root, RunEnd::completed("")).outcome, RunOutcome::completed);
}

TEST_F(RunStopTest, FailingTheRootStopsEverythingBelow) {
  const RunId root = start().id;
  const RunId child = delegate(root, "c").id;
  const RunId grandchild = delegate(child, "d").id;
  runs_.calls().request(grandchild, {CallId("asks"), "sh"});
  runs_.calls().request_approval(grandchild, CallId("asks"), {Capability::network});
  runs_.finish(root, RunEnd::failed("boom"));
  for (const RunId& below : {child, grandchild}) {
    const Run run = runs_.get(below);
    EXPECT_EQ(run.outcome, RunOutcome::failed);
    EXPECT_EQ(run.reason_code, RunReason::tool_error);
    EXPECT_EQ(run.error, "ancestor run interrupted");
    for (const RunCall& open : runs_.calls().list(below)) {
      EXPECT_EQ(open.status, CallStatus::failed);
    }
    expect_sound(below);
  }
  EXPECT_EQ(runs_.calls().find_approval(grandchild, CallId("asks"))->decision,
            ApprovalDecision::denied);
  // Each parent was told before it stopped itself.
  EXPECT_THAT(types(child),
              ElementsAre("run.created", "tool.requested", "tool.started", "delegation.started",
                          "delegation.finished", "tool.failed", "run.failed"));
  expect_sound(root);
}

TEST_F(RunStopTest, CancellingTheRootCancelsEverythingBelow) {
  const RunId root = start().id;
  const RunId child = delegate(root, "c").id;
  const RunId grandchild = delegate(child, "d").id;
  runs_.calls().request(grandchild, {CallId("asks"), "sh"});
  runs_.calls().request_approval(grandchild, CallId("asks"), {Capability::network});
  started_call(grandchild, "runs");
  runs_.finish(root, RunEnd::cancelled());
  EXPECT_EQ(runs_.get(root).reason_code, RunReason::cancellation_requested);
  for (const RunId& below : {child, grandchild}) {
    const Run run = runs_.get(below);
    EXPECT_EQ(run.outcome, RunOutcome::cancelled);
    EXPECT_EQ(run.reason_code, RunReason::ancestor_cancelled);
    EXPECT_EQ(run.error, std::nullopt);
    EXPECT_EQ(legacy_status(run), "cancelled");
  }
  for (const RunId& run : {root, child, grandchild}) {
    for (const RunCall& open : runs_.calls().list(run)) {
      EXPECT_EQ(open.status, CallStatus::failed) << open.call_id.str();
    }
    expect_sound(run);
  }
  EXPECT_EQ(call(grandchild, "runs").outcome_class, CallOutcomeClass::cancelled);
  EXPECT_EQ(call(grandchild, "asks").outcome_class, CallOutcomeClass::interrupted);
  EXPECT_EQ(runs_.calls().find_approval(grandchild, CallId("asks"))->decision,
            ApprovalDecision::denied);
}

TEST_F(RunStopTest, ASuspendedParentWasToldWhatBecameOfItsChildren) {
  const RunId root = start().id;
  const RunId child = delegate(root, "c").id;
  runs_.accounts().record_response(child, TokenUsage{1, 2, 3});
  runs_.finish(root, RunEnd::needs_user_input(RunReason::decision_required, "?"));
  EXPECT_THAT(types(root),
              ElementsAre("run.started", "tool.requested", "tool.started", "delegation.started",
                          "delegation.finished", "tool.failed", "run.needs_user_input"));
  const Json told = payload(root, 5);
  EXPECT_EQ(told["call_id"], "c");
  EXPECT_EQ(told["child_run_id"], child.str());
  EXPECT_EQ(told["outcome"], "failed");
  EXPECT_EQ(told["usage"]["total_tokens"], 3);
  EXPECT_EQ(runs_.get(child).reason_code, RunReason::tool_error);
  expect_sound(root);
}

TEST_F(RunStopTest, ASuspensionCanRefuseToStopChildren) {
  const RunId root = start().id;
  const RunId child = delegate(root, "c").id;
  RunEnd end = RunEnd::blocked(RunReason::resource_unavailable, "wait");
  end.refuse_with_active_children = true;
  EXPECT_EQ(error_of([&] { runs_.finish(root, end); }), ErrorCode::conflict);
  EXPECT_EQ(runs_.get(child).lifecycle, RunLifecycle::active);
  end.refuse_with_active_children = false;
  runs_.finish(root, end);
  EXPECT_EQ(runs_.get(child).error, "ancestor run interrupted");
}

}  // namespace
}  // namespace threadstore::test
