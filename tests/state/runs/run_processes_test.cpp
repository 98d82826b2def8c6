#include <signal.h>

#include "tests/state/runs/run_fixture.h"
#include "tests/support/process_swarm.h"

namespace threadstore::test {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

class RunProcessesTest : public RunFileFixture {
 protected:
  std::vector<std::string> actor(const RunId& run, std::vector<std::string> words) const {
    std::vector<std::string> command{RUN_ACTOR, file_.string(), run.str()};
    command.insert(command.end(), words.begin(), words.end());
    return command;
  }
  /// A process that did something and was killed before it could end it.
  void kill_after(const RunId& run, const std::string& action, const std::string& word) {
    ChildProcess process(actor(run, {action}));
    ASSERT_EQ(process.read_line(), word);
    EXPECT_EQ(error_of([&] { runs_.acquire(run, "rescuer"); }), ErrorCode::conflict);
    process.kill(SIGKILL);
    process.wait();
  }
  /// What a process says until its end.
  static std::vector<std::string> said_by(const std::vector<std::string>& command) {
    ChildProcess process(command);
    auto lines = read_lines(process);
    EXPECT_EQ(process.wait(), 0);
    return lines;
  }
  /// Several that wait for each other before they begin.
  static std::vector<std::vector<std::string>> said_at_once(
      const std::vector<std::vector<std::string>>& commands) {
    ProcessSwarm swarm(commands);
    swarm.go();
    return swarm.finish();
  }

  std::vector<std::string> newest_types(const RunId& run, std::size_t count) const {
    auto all = types(run);
    return {all.end() - static_cast<std::ptrdiff_t>(std::min(count, all.size())), all.end()};
  }
};

TEST_F(RunProcessesTest, TwentyProcessesAppendToOneRunWithoutAGap) {
  const RunId run = start().id;
  ProcessSwarm swarm(std::vector<std::vector<std::string>>(20, actor(run, {"append", "5"})));
  swarm.go();
  swarm.finish();
  std::int64_t expected = 0;
  for (const RunEvent& event : runs_.log().list(run)) EXPECT_EQ(event.sequence, ++expected);
  EXPECT_EQ(expected, 101);
  const WorkingState state = runs_.projections().working_state(run);
  EXPECT_EQ(state.status, WorkingStateStatus::current);
  EXPECT_EQ(state.revision, 101);
  expect_sound(run);
}

// A process is killed with -9 between `tool.started` and the call's end. Another one finds the run,
// takes it over, and answers in each of the three ways.
TEST_F(RunProcessesTest, AKilledCallsEffectIsUnknownUntilSomebodyKnows) {
  using Kind = EffectAnswer::Kind;
  const CallId c("c");
  for (const Kind kind : {Kind::completed, Kind::retry, Kind::abort}) {
    const RunId run = start().id;
    kill_after(run, "call", "started");
    EXPECT_TRUE(runs_.get(run).interrupted);
    EXPECT_EQ(runs_.get(run).lifecycle, RunLifecycle::active);
    const auto interrupted = runs_.list({.interrupted_only = true}).items;
    ASSERT_EQ(interrupted.size(), 1U);
    EXPECT_EQ(interrupted[0].id, run);

    const std::string after(kind == Kind::abort ? "terminal" : "active");
    EXPECT_THAT(said_by(actor(run, {"answer", std::string(to_word(kind))})),
                ElementsAre("suspended effect_unknown", after));
    EXPECT_THAT(runs_.latest_suspension(run)->prompt, testing::HasSubstr("c (sh)"));
    const auto marks = runs_.log().list_of_type(run, "tool.indeterminate");
    ASSERT_EQ(marks.size(), 1U);
    EXPECT_THAT(runs_.log().list(run, marks[0].sequence, 1).at(0).event_type, "run.blocked");

    const RunCall call = runs_.calls().get(run, c);
    if (kind == Kind::completed) {
      EXPECT_EQ(call.status, CallStatus::completed);
      EXPECT_EQ(call.result, "[1]");
      EXPECT_THAT(newest_types(run, 2), ElementsAre("tool.completed", "run.continued"));
      EXPECT_EQ(runs_.get(run).usage.tool_calls, 1);
    } else if (kind == Kind::retry) {
      EXPECT_EQ(call.status, CallStatus::requested);
      EXPECT_THAT(newest_types(run, 2), ElementsAre("tool.retried", "run.continued"));
      runs_.calls().start(run, c);
      runs_.calls().finish(run, c, CallOutcome::completed("2"));
      EXPECT_EQ(runs_.get(run).usage.tool_calls, 2);
    } else {
      EXPECT_EQ(call.outcome_class, CallOutcomeClass::uncertain_side_effect);
      EXPECT_EQ(newest_types(run, 1).at(0), "run.abandoned");
      EXPECT_EQ(runs_.get(run).reason_code, RunReason::abandoned);
      EXPECT_EQ(error_of([&] { runs_.reopen(run, runs_.get(run).last_sequence); }),
                ErrorCode::conflict);
    }
    // The run goes on to its end, or is over.
    if (kind != Kind::abort) runs_.finish(run, RunEnd::completed("done"));
    EXPECT_EQ(runs_.get(run).lifecycle, RunLifecycle::terminal);
    EXPECT_FALSE(runs_.get(run).interrupted);
    expect_sound(run);
  }
}

TEST_F(RunProcessesTest, AnApprovalOutlivesTheProcessThatAskedForIt) {
  const RunId run = start().id;
  kill_after(run, "ask", "asked");
  EXPECT_THAT(said_at_once({actor(run, {"decide", "c", "bob"})}), ElementsAre(ElementsAre("won")));
  const HeldRun held = runs_.acquire(run, "rescuer");
  EXPECT_EQ(held.run.lifecycle, RunLifecycle::active);
  Runs runs = runs_.holding(run, held.lease.token());
  runs.calls().start(run, CallId("c"));
  runs.calls().finish(run, CallId("c"), CallOutcome::completed("1"));
  runs.finish(run, RunEnd::completed("done"));
  EXPECT_THAT(types(run),
              ElementsAre("run.started", "tool.requested", "approval.requested", "approval.granted",
                          "run.taken_over", "tool.started", "tool.completed", "run.completed"));
}

// The same with a run that was suspended for the approval before its process died.
TEST_F(RunProcessesTest, ARunThatWaitsForAnApprovalGoesOnWithoutTheProcessThatAsked) {
  const RunId run = start().id;
  kill_after(run, "wait", "waits");
  EXPECT_EQ(runs_.get(run).reason_code, RunReason::approval_required);
  EXPECT_EQ(runs_.get(run).recovery_disposition, RecoveryDisposition::suspended);
  EXPECT_THAT(said_at_once({actor(run, {"decide", "c", "bob"})}), ElementsAre(ElementsAre("won")));
  const HeldRun held = runs_.acquire(run, "rescuer");
  // Nothing ran: there is no effect to ask about.
  EXPECT_EQ(held.run.reason_code, RunReason::approval_required);
  EXPECT_EQ(runs_.calls().get(run, CallId("c")).status, CallStatus::requested);
  Runs runs = runs_.holding(run, held.lease.token());
  const Run on =
      runs.continue_suspended(run, {.expected_sequence = held.run.last_sequence,
                                    .suspension_sequence = runs.latest_suspension(run)->sequence,
                                    .input = "bob said yes"});
  EXPECT_EQ(on.lifecycle, RunLifecycle::active);
  runs.calls().start(run, CallId("c"));
  runs.calls().finish(run, CallId("c"), CallOutcome::completed("1"));
  EXPECT_EQ(runs.finish(run, RunEnd::completed("done")).outcome, RunOutcome::completed);
  expect_sound(run);
}

TEST_F(RunProcessesTest, OfTwoDecidersOneWinsAndTheOtherIsToldWho) {
  const RunId run = start().id;
  for (const std::string call : {"1", "2", "3", "4"}) {
    runs_.calls().request(run, {.id = CallId(call), .tool_name = "sh"});
    EXPECT_THAT(said_at_once({actor(run, {"request", call}), actor(run, {"request", call})}),
                UnorderedElementsAre(ElementsAre("asked"), ElementsAre("late")));
    const auto said =
        said_at_once({actor(run, {"decide", call, "ann"}), actor(run, {"decide", call, "bob"})});
    const std::string winner = *runs_.calls().find_approval(run, CallId(call))->decided_by;
    EXPECT_THAT(said, UnorderedElementsAre(ElementsAre("won"), ElementsAre(winner)));
  }
  // Request, its approval and the decision of each, and nothing of those who came late.
  EXPECT_EQ(runs_.get(run).last_sequence, 1 + 4 * 3);
  expect_sound(run);
}

}  // namespace
}  // namespace threadstore::test
