// Several threads and handles at once: each thing happens once, and nothing is lost.
#include <thread>

#include "tests/state/db/sqlite_connection.h"
#include "tests/state/runs/run_fixture.h"

namespace threadstore::test {
namespace {

using testing::ElementsAre;
using testing::Optional;

class RunConcurrencyTest : public RunFixture {
 protected:
  /// Lets `count` threads do it at once, each with a handle of its own; how many succeeded. The
  /// others must have met a conflict.
  int at_once(int count, const std::function<void(Runs&, int)>& operation) {
    std::atomic<int> done = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) {
      threads.emplace_back([&, i] {
        Runs runs = store_.runs("/work");
        const auto error = error_of([&] { operation(runs, i); });
        EXPECT_EQ(error.value_or(ErrorCode::conflict), ErrorCode::conflict);
        done += !error;
      });
    }
    for (std::thread& thread : threads) thread.join();
    return done;
  }

  const RunId run_ = start().id;
  const CallId c_{"c"};
};

TEST_F(RunConcurrencyTest, OneOfManyAsksAndOneOfManyDecides) {
  runs_.calls().request(run_, {c_, "sh"});
  EXPECT_EQ(
      at_once(8, [&](Runs& runs,
                     int) { runs.calls().request_approval(run_, c_, {Capability::network}); }),
      1);
  EXPECT_EQ(at_once(8,
                    [&](Runs& runs, int i) {
                      runs.calls().decide(run_, c_,
                                          {.decision = i % 2 == 0 ? ApprovalDecision::granted
                                                                  : ApprovalDecision::denied,
                                           .decided_by = std::to_string(i)});
                    }),
            1);
  const RunApproval decided = *runs_.calls().find_approval(run_, c_);
  EXPECT_THAT(types(run_),
              ElementsAre("run.started", "tool.requested", "approval.requested",
                          decided.decision == ApprovalDecision::granted ? "approval.granted"
                                                                        : "approval.denied"));
  EXPECT_EQ(newest_payload(run_)["decided_by"], *decided.decided_by);
  expect_sound(run_);
}

TEST_F(RunConcurrencyTest, ACallIsRequestedStartedAndFinishedOnce) {
  EXPECT_EQ(at_once(8, [&](Runs& runs, int) { runs.calls().request(run_, {c_, "sh"}); }), 1);
  EXPECT_EQ(at_once(8, [&](Runs& runs, int) { runs.calls().start(run_, c_); }), 1);
  EXPECT_EQ(at_once(8,
                    [&](Runs& runs, int i) {
                      runs.calls().finish(run_, c_, CallOutcome::completed(std::to_string(i)));
                    }),
            1);
  EXPECT_EQ(runs_.get(run_).usage.tool_calls, 1);
  EXPECT_EQ(runs_.get(run_).last_sequence, 4);
  expect_sound(run_);
}

TEST_F(RunConcurrencyTest, NoChargeOfAnAncestorIsLost) {
  std::vector<RunId> children;
  for (int i = 0; i < 4; ++i) children.push_back(delegate(run_, std::to_string(i)).id);
  const auto before = runs_.get(run_).usage.tool_calls;
  EXPECT_EQ(at_once(8,
                    [&](Runs& runs, int i) {
                      const RunId& child = children[static_cast<std::size_t>(i) % children.size()];
                      for (int n = 0; n < 10; ++n) {
                        runs.accounts().request_model(child);
                        runs.accounts().record_response(child, TokenUsage{1, 2, 3});
                      }
                      const CallId call("call" + std::to_string(i));
                      runs.calls().request(child, {call, "sh"});
                      runs.calls().start(child, call);
                    }),
            8);
  const RunUsage usage = runs_.get(run_).usage;
  EXPECT_EQ(usage.model_turns, 80);
  EXPECT_EQ(usage.responses_with_usage, 80);
  EXPECT_THAT(usage.input_tokens, Optional(80));
  EXPECT_THAT(usage.output_tokens, Optional(160));
  EXPECT_THAT(usage.total_tokens, Optional(240));
  EXPECT_EQ(usage.tool_calls, before + 8);
  expect_sound(run_);
  for (const RunId& child : children) expect_sound(child);
}

TEST_F(RunConcurrencyTest, ASuspensionIsContinuedOnce) {
  const Run waiting =
      runs_.finish(run_, RunEnd::needs_user_input(RunReason::decision_required, "?"));
  EXPECT_EQ(at_once(8,
                    [&](Runs& runs, int i) {
                      runs.continue_suspended(run_, {.expected_sequence = waiting.last_sequence,
                                                     .suspension_sequence = waiting.last_sequence,
                                                     .input = std::to_string(i)});
                    }),
            1);
  EXPECT_THAT(types(run_), ElementsAre("run.started", "run.needs_user_input", "run.continued"));
}

class RunRebuildTest : public RunFileFixture {};

TEST_F(RunRebuildTest, ARebuildNeverWritesWhatTheLogWasBefore) {
  constexpr int before = 2000;
  constexpr int meanwhile = 100;
  const RunId run = start().id;
  store_.transaction([&] {
    for (int i = 0; i < before; ++i) runs_.log().append(run, "note.x");
  });
  std::atomic<bool> done = false;
  std::thread writer([&] {
    Runs runs = store_.runs("/work");
    for (int i = 0; i < meanwhile; ++i) {
      const CallId call(std::to_string(i));
      runs.calls().request(run, {call, "sh"});
      runs.calls().start(run, call);
      runs.calls().finish(run, call, CallOutcome::completed("1"));
    }
    done = true;
  });
  // A run that changes all the time may not be compared in time: `busy`, with nothing written.
  while (!done) {
    sql(open_sqlite(file_).get(), "UPDATE runs SET artifact_count = 7");
    const auto error = error_of([&] { runs_.projections().rebuild(run); });
    EXPECT_EQ(error.value_or(ErrorCode::busy), ErrorCode::busy);
  }
  writer.join();
  runs_.projections().rebuild(run);
  expect_sound(run);
  EXPECT_EQ(runs_.get(run).last_sequence, 1 + before + 3 * meanwhile);
  EXPECT_EQ(runs_.get(run).usage.tool_calls, meanwhile);
  for (const RunCall& call : runs_.calls().list(run)) {
    EXPECT_EQ(call.status, CallStatus::completed);
    EXPECT_EQ(call.result, "1");
  }
}

}  // namespace
}  // namespace threadstore::test
