#include "tests/state/runs/run_fixture.h"

namespace threadstore::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Json = nlohmann::json;

class RunCallsTest : public RunFixture {
 protected:
  RunCalls calls() const { return runs_.calls(); }
  std::optional<std::int64_t> fail_with(const std::string& call, const std::string& key) {
    return calls()
        .finish(run_, CallId(call),
                CallOutcome::recoverable("bad_input", "no", R"({"e":1})", "seen", key))
        .consecutive_count;
  }

  const RunId run_ = start().id;
  const CallId c_{"c"};
};

TEST_F(RunCallsTest, ACallGoesFromRequestedToStartedToCompleted) {
  calls().request(run_, {.id = c_, .tool_name = "sh", .arguments = R"({"cmd": "ls"})"});
  now_ += 1;
  EXPECT_EQ(calls().start(run_, c_).status, CallStatus::started);
  now_ += 1;
  const RunCall done = calls().finish(run_, c_, CallOutcome::completed(R"(["a"])"));
  EXPECT_EQ(done, (RunCall{.run_id = run_,
                           .call_id = c_,
                           .requested_sequence = 2,
                           .tool_name = "sh",
                           .arguments = R"({"cmd": "ls"})",
                           .status = CallStatus::completed,
                           .outcome_class = CallOutcomeClass::completed,
                           .result = R"(["a"])",
                           .started_at = now_ - 1,
                           .completed_at = now_,
                           .finished_sequence = 4}));
  EXPECT_THAT(calls().list(run_), ElementsAre(done));
  EXPECT_EQ(payload(run_, 2), (Json{{"call_id", "c"}, {"tool", "sh"}}));
  EXPECT_EQ(payload(run_, 3), (Json{{"call_id", "c"}}));
  EXPECT_EQ(payload(run_, 4), (Json{{"call_id", "c"},
                                    {"outcome", "completed"},
                                    {"code", nullptr},
                                    {"error", nullptr},
                                    {"message", nullptr},
                                    {"repetition_key", nullptr},
                                    {"consecutive_count", nullptr}}));
  EXPECT_EQ(runs_.get(run_).usage.tool_calls, 1);
  expect_sound(run_);
}

TEST_F(RunCallsTest, EachOutcomeHasItsStatusEventAndClass) {
  struct Case {
    CallOutcome outcome;
    CallStatus status;
    std::string event;
    CallOutcomeClass outcome_class;
  };
  const std::vector<Case> cases{
      {CallOutcome::completed("1"), CallStatus::completed, "tool.completed",
       CallOutcomeClass::completed},
      {CallOutcome::failed("e"), CallStatus::failed, "tool.failed",
       CallOutcomeClass::terminal_error},
      {CallOutcome::recoverable("x", "e", "{}", "t", "k"), CallStatus::failed,
       "tool.recoverable_error", CallOutcomeClass::recoverable_error},
      {CallOutcome::terminal("x", "e"), CallStatus::failed, "tool.failed",
       CallOutcomeClass::terminal_error},
      {CallOutcome::uncertain("x", "e"), CallStatus::failed, "tool.failed",
       CallOutcomeClass::uncertain_side_effect}};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const CallId call = started_call(run_, "s" + std::to_string(i));
    EXPECT_EQ(error_of([&] { calls().finish(run_, call, CallOutcome::denied("no")); }),
              ErrorCode::conflict);
    const RunCall done = calls().finish(run_, call, cases[i].outcome);
    EXPECT_EQ(done.status, cases[i].status);
    EXPECT_EQ(done.outcome_class, cases[i].outcome_class);
    EXPECT_EQ(types(run_).back(), cases[i].event);
    // What has ended does not end again.
    EXPECT_EQ(error_of([&] { calls().finish(run_, call, cases[i].outcome); }), ErrorCode::conflict);
  }
  calls().request(run_, {.id = c_, .tool_name = "sh"});
  for (const Case& other : cases) {
    EXPECT_EQ(error_of([&] { calls().finish(run_, c_, other.outcome); }), ErrorCode::conflict);
  }
  EXPECT_EQ(calls().finish(run_, c_, CallOutcome::denied("no")).status, CallStatus::denied);
  EXPECT_EQ(types(run_).back(), "tool.denied");
  EXPECT_EQ(newest_payload(run_)["error"], "no");
  expect_sound(run_);
}

TEST_F(RunCallsTest, InputsThatBreakARuleAppendNothing) {
  const auto bad = ErrorCode::invalid_argument;
  EXPECT_EQ(error_of([&] { calls().request(run_, {.id = CallId(""), .tool_name = "t"}); }), bad);
  EXPECT_EQ(error_of([&] { calls().request(run_, {.id = c_, .tool_name = " "}); }), bad);
  EXPECT_EQ(
      error_of([&] { calls().request(run_, {.id = c_, .tool_name = "t", .arguments = "[1]"}); }),
      bad);
  EXPECT_EQ(error_of([&] { calls().finish(run_, c_, CallOutcome::completed("{")); }), bad);
  for (const char* code : {"", "Big", "9a", "a-b"}) {
    EXPECT_EQ(error_of([&] { calls().finish(run_, c_, CallOutcome::terminal(code, "m")); }), bad);
  }
  EXPECT_EQ(
      error_of([&] { calls().finish(run_, c_, CallOutcome::terminal(std::string(65, 'a'), "m")); }),
      bad);
  EXPECT_EQ(error_of([&] {
              calls().finish(run_, c_, CallOutcome::terminal("a", std::string(4097, 'm')));
            }),
            bad);
  EXPECT_EQ(error_of([&] { calls().request_approval(run_, c_, {}); }), bad);
  EXPECT_EQ(error_of([&] {
              calls().request_approval(run_, c_, {Capability::network, Capability::network});
            }),
            bad);
  EXPECT_EQ(error_of([&] { calls().start(run_, c_); }), ErrorCode::not_found);
  EXPECT_EQ(runs_.get(run_).last_sequence, 1);
}

TEST_F(RunCallsTest, ACallIdIsUsedOnce) {
  calls().request(run_, {.id = c_, .tool_name = "sh"});
  EXPECT_EQ(error_of([&] { calls().request(run_, {.id = c_, .tool_name = "sh"}); }),
            ErrorCode::conflict);
  EXPECT_EQ(runs_.get(run_).last_sequence, 2);
}

TEST_F(RunCallsTest, RepetitionsCountInTheOrderOfCompletion) {
  for (const char* call : {"1", "2", "3", "4", "5", "6", "7"}) started_call(run_, call);
  EXPECT_EQ(fail_with("3", "k"), 1);
  EXPECT_EQ(fail_with("1", "k"), 2);
  EXPECT_EQ(fail_with("2", "k"), 3);
  EXPECT_EQ(fail_with("4", "other"), 1);
  EXPECT_EQ(fail_with("5", "other"), 2);
  calls().finish(run_, CallId("6"), CallOutcome::completed("1"));
  EXPECT_EQ(fail_with("7", "other"), 1);
  EXPECT_EQ(newest_payload(run_)["consecutive_count"], 1);
  EXPECT_EQ(newest_payload(run_)["repetition_key"], "other");
  EXPECT_EQ(calls().get(run_, CallId("6")).consecutive_count, std::nullopt);
  expect_sound(run_);
}

TEST_F(RunCallsTest, AnApprovedCallStartsAndItsStoryIsInOrder) {
  calls().request(run_, {.id = c_, .tool_name = "sh"});
  const RunApproval asked =
      calls().request_approval(run_, c_, {Capability::network, Capability::process_execute});
  EXPECT_EQ(error_of([&] { calls().start(run_, c_); }), ErrorCode::conflict);
  EXPECT_EQ(error_of([&] { calls().request_approval(run_, c_, {Capability::network}); }),
            ErrorCode::conflict);
  EXPECT_THAT(calls().pending_approvals(), ElementsAre(asked));
  now_ += 9;
  const RunApproval granted = calls().decide(
      run_, c_,
      {.decision = ApprovalDecision::granted, .decided_by = "ann", .reason = "looks fine"});
  EXPECT_EQ(granted,
            (RunApproval{.run_id = run_,
                         .call_id = c_,
                         .tool_name = "sh",
                         .capabilities = {Capability::network, Capability::process_execute},
                         .requested_sequence = 3,
                         .requested_at = now_ - 9,
                         .decision = ApprovalDecision::granted,
                         .decided_sequence = 4,
                         .decided_at = now_,
                         .decided_by = "ann",
                         .reason = "looks fine"}));
  EXPECT_THAT(calls().pending_approvals(), IsEmpty());
  calls().start(run_, c_);
  calls().finish(run_, c_, CallOutcome::completed("1"));
  EXPECT_THAT(types(run_), ElementsAre("run.started", "tool.requested", "approval.requested",
                                       "approval.granted", "tool.started", "tool.completed"));
  EXPECT_EQ(payload(run_, 3),
            (Json{{"call_id", "c"}, {"capabilities", {"network", "process_execute"}}}));
  EXPECT_EQ(payload(run_, 4),
            (Json{{"call_id", "c"}, {"decided_by", "ann"}, {"reason", "looks fine"}}));
  expect_sound(run_);
}

TEST_F(RunCallsTest, WhatCannotBeAskedForAppendsNothing) {
  const std::vector<Capability> network{Capability::network};
  const auto refused = [&](const CallId& call, const std::vector<Capability>& capabilities) {
    const std::int64_t before = runs_.get(run_).last_sequence;
    const auto error = error_of([&] { calls().request_approval(run_, call, capabilities); });
    EXPECT_EQ(runs_.get(run_).last_sequence, before);
    EXPECT_THAT(calls().pending_approvals(), IsEmpty());
    return error;
  };
  calls().request(run_, {.id = c_, .tool_name = "sh"});
  EXPECT_EQ(refused(c_, {}), ErrorCode::invalid_argument);
  EXPECT_EQ(refused(c_, {Capability::network, Capability::read_only, Capability::network}),
            ErrorCode::invalid_argument);
  EXPECT_EQ(refused(CallId("unknown"), network), ErrorCode::not_found);
  calls().start(run_, c_);
  EXPECT_EQ(refused(c_, network), ErrorCode::conflict);
  calls().finish(run_, c_, CallOutcome::completed("1"));
  EXPECT_EQ(refused(c_, network), ErrorCode::conflict);
  const CallId denied("denied");
  calls().request(run_, {.id = denied, .tool_name = "sh"});
  calls().finish(run_, denied, CallOutcome::denied("no"));
  EXPECT_EQ(refused(denied, network), ErrorCode::conflict);
  calls().request(run_, {.id = CallId("late"), .tool_name = "sh"});
  runs_.finish(run_, RunEnd::failed("x"));
  EXPECT_EQ(refused(CallId("late"), network), ErrorCode::conflict);
}

TEST_F(RunCallsTest, ADecisionIsMadeOnceAndTheLoserIsToldByWhom) {
  calls().request(run_, {.id = c_, .tool_name = "sh"});
  EXPECT_EQ(error_of([&] { calls().decide(run_, c_, {.decided_by = "ann"}); }),
            ErrorCode::not_found);
  calls().request_approval(run_, c_, {Capability::network});
  EXPECT_EQ(error_of([&] { calls().decide(run_, c_, {.decided_by = " "}); }),
            ErrorCode::invalid_argument);
  calls().decide(run_, c_, {.decision = ApprovalDecision::denied, .decided_by = "ann"});
  try {
    calls().decide(run_, c_, {.decision = ApprovalDecision::granted, .decided_by = "bob"});
    ADD_FAILURE() << "decided twice";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::conflict);
    EXPECT_EQ(error.details()["decided_by"], "ann");
    EXPECT_EQ(error.details()["decision"], "denied");
  }
  EXPECT_EQ(error_of([&] { calls().start(run_, c_); }), ErrorCode::conflict);
  EXPECT_EQ(types(run_).size(), 4U);
}

TEST_F(RunCallsTest, DenyingTheToolClosesTheRequest) {
  calls().request(run_, {.id = c_, .tool_name = "sh"});
  calls().request_approval(run_, c_, {Capability::network});
  calls().finish(run_, c_, CallOutcome::denied("policy"));
  EXPECT_THAT(types(run_), ElementsAre("run.started", "tool.requested", "approval.requested",
                                       "tool.denied", "approval.denied"));
  EXPECT_EQ(newest_payload(run_), (Json{{"call_id", "c"}, {"reason", "tool denied"}}));
  EXPECT_EQ(calls().find_approval(run_, c_)->decided_by, std::nullopt);
  expect_sound(run_);
}

TEST_F(RunCallsTest, ATranscriptHasAResultForEveryCall) {
  calls().request(run_, {.id = CallId("waits"), .tool_name = "sh"});
  started_call(run_, "runs");
  started_call(run_, "done");
  calls().finish(run_, CallId("done"), CallOutcome::completed("[1]"));
  started_call(run_, "soft");
  fail_with("soft", "k");
  calls().request(run_, {.id = CallId("no"), .tool_name = "sh"});
  calls().finish(run_, CallId("no"), CallOutcome::denied("policy"));
  std::vector<std::string> shown;
  for (const auto& result : calls().transcript(run_)) {
    shown.push_back(result.call_id.str() + (result.is_error ? "! " : " ") + result.content);
  }
  EXPECT_THAT(shown, ElementsAre("waits! interrupted: the call was not started",
                                 "runs! interrupted: the call has no result yet", "done [1]",
                                 "soft! seen", "no! denied: policy"));
}

}  // namespace
}  // namespace threadstore::test
