#include "tests/state/runs/run_fixture.h"

namespace threadstore::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class RunRequestsTest : public RunFileFixture {
 protected:
  RunRequests requests() const { return runs_.requests(); }
  DeferredApproval ask(const RunId& run, const std::string& target = "rm -r build") {
    return requests().put(run,
                          {.step = 4, .act = "exec", .target = target, .content = "#!/bin/sh\n"});
  }
  static Decision by(const std::string& who,
                     ApprovalDecision decision = ApprovalDecision::granted) {
    return {.decision = decision, .decided_by = who, .reason = "looked at it"};
  }

  RunId run_ = start().id;
};

TEST_F(RunRequestsTest, AnotherHandleReadsItUndecidedAndThenItsDecision) {
  const DeferredApproval asked = ask(run_);
  EXPECT_EQ(asked.content, "#!/bin/sh\n");
  const auto other = StateStore::open(file_, options());
  Runs runs = other.runs("/work");
  EXPECT_EQ(runs.requests().get(asked.request_id), asked);
  EXPECT_EQ(runs.requests().get(asked.request_id).decision, std::nullopt);
  now_ += 1000;
  const DeferredApproval decided = runs.requests().decide(asked.request_id, by("ann"));
  DeferredApproval expected = asked;
  expected.decision = ApprovalDecision::granted;
  expected.decided_sequence = 3;
  expected.decided_at = now_;
  expected.decided_by = "ann";
  expected.reason = "looked at it";
  EXPECT_EQ(decided, expected);
  EXPECT_EQ(requests().get(asked.request_id), expected);
  EXPECT_THAT(types(run_), ElementsAre("run.started", "approval.requested", "approval.granted"));
  expect_sound(run_);
}

TEST_F(RunRequestsTest, TheFirstDecisionCountsAndTheSecondIsToldWhose) {
  const RequestId request = ask(run_).request_id;
  requests().decide(request, by("ann", ApprovalDecision::denied));
  try {
    requests().decide(request, by("bob"));
    ADD_FAILURE() << "decided twice";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::conflict);
    EXPECT_EQ(error.details().value("decided_by", ""), "ann");
    EXPECT_EQ(error.details().value("decision", ""), "denied");
  }
  EXPECT_EQ(requests().get(request).decided_by, "ann");
}

TEST_F(RunRequestsTest, UndecidedOnesAreListedOldestFirst) {
  const RunId other = start().id;
  const RequestId first = ask(run_, "a").request_id;
  now_ += 10;
  const RequestId second = ask(other, "b").request_id;
  now_ += 10;
  const RequestId third = ask(run_, "c").request_id;
  const auto ids = [](const std::vector<DeferredApproval>& requests) {
    std::vector<RequestId> found;
    for (const auto& request : requests) found.push_back(request.request_id);
    return found;
  };
  EXPECT_THAT(ids(requests().pending()), ElementsAre(first, second, third));
  EXPECT_THAT(ids(requests().pending(run_)), ElementsAre(first, third));
  requests().decide(first, by("ann"));
  EXPECT_THAT(ids(requests().pending()), ElementsAre(second, third));
  EXPECT_THAT(ids(requests().pending(1)), ElementsAre(second));
  EXPECT_THAT(ids(requests().list(run_)), ElementsAre(first, third));
  EXPECT_THAT(store_.runs("/elsewhere").requests().pending(), IsEmpty());
  EXPECT_THAT(runs_.calls().pending_approvals(), IsEmpty());
}

TEST_F(RunRequestsTest, AStepThatIsDrivenAgainFindsItsRequest) {
  const NewRequest request{.step = 1, .act = "exec", .target = "make", .key = "1/exec/make"};
  const DeferredApproval asked = requests().put(run_, request);
  requests().decide(asked.request_id, by("ann"));
  const DeferredApproval again = requests().put(run_, request);
  EXPECT_EQ(again.request_id, asked.request_id);
  EXPECT_EQ(again.decision, ApprovalDecision::granted);
  NewRequest other = request;
  other.target = "make install";
  EXPECT_EQ(error_of([&] { requests().put(run_, other); }), ErrorCode::conflict);
  EXPECT_NE(requests().put(start().id, request).request_id, asked.request_id);
}

TEST_F(RunRequestsTest, ARunWaitsForItsDecisionAndGoesOn) {
  const RequestId request = ask(run_).request_id;
  runs_.finish(run_, RunEnd::from_word("awaiting_approval"));
  EXPECT_EQ(run_status(runs_.get(run_)), RunStatus::paused);
  EXPECT_EQ(requests().pending(run_).size(), 1U);
  requests().decide(request, by("ann"));
  EXPECT_TRUE(runs_.steps().resume(run_).resumed);
  EXPECT_EQ(runs_.get(run_).lifecycle, RunLifecycle::active);
  expect_sound(run_);
}

TEST_F(RunRequestsTest, ARunThatIsOverWaitsForNothing) {
  const RequestId request = ask(run_).request_id;
  runs_.finish(run_, RunEnd::failed("x"));
  EXPECT_EQ(requests().get(request).decision, ApprovalDecision::denied);
  EXPECT_EQ(requests().get(request).reason, "run interrupted");
  EXPECT_EQ(requests().get(request).decided_by, std::nullopt);
  EXPECT_THAT(requests().pending(), IsEmpty());
  const RunId waiting = start().id;
  const RequestId given_up = ask(waiting).request_id;
  runs_.finish(waiting, RunEnd::from_word("awaiting_approval"));
  runs_.abandon(waiting);
  EXPECT_EQ(requests().get(given_up).decision, ApprovalDecision::denied);
  EXPECT_EQ(error_of([&] { ask(run_); }), ErrorCode::conflict);
  expect_sound(run_);
  expect_sound(waiting);
}

TEST_F(RunRequestsTest, WhatIsNotThereOrSaysNothingIsRefused) {
  EXPECT_EQ(error_of([&] { requests().get(RequestId{99}); }), ErrorCode::not_found);
  EXPECT_EQ(requests().find(RequestId{99}), std::nullopt);
  EXPECT_EQ(error_of([&] { requests().decide(RequestId{99}, by("ann")); }), ErrorCode::not_found);
  EXPECT_EQ(error_of([&] { requests().put(run_, {.step = 1, .act = " "}); }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(error_of([&] { requests().put(run_, {.step = -1, .act = "x"}); }),
            ErrorCode::invalid_argument);
  const RequestId request = ask(run_).request_id;
  EXPECT_EQ(error_of([&] { requests().decide(request, {}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(error_of([&] { store_.runs("/elsewhere").requests().decide(request, by("eve")); }),
            ErrorCode::not_found);
}

}  // namespace
}  // namespace threadstore::test
