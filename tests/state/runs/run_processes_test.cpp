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
  Run rescue_from_a_call(const RunId& run) {
    kill_after(run, "call", "started");
    EXPECT_TRUE(runs_.get(run).interrupted);
    EXPECT_EQ(runs_.list({.interrupted_only = true}).items.at(0).id, run);
    held_.emplace(runs_.acquire(run, "rescuer"));
    return held_->run;
  }

  std::optional<HeldRun> held_;
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

TEST_F(RunProcessesTest, AKilledCallsEffectIsUnknownUntilSomebodyKnows) {
  using Kind = EffectAnswer::Kind;
  for (const Kind kind : {Kind::completed, Kind::retry, Kind::abort}) {
    const RunId run = start().id;
    const Run rescued = rescue_from_a_call(run);
    EXPECT_EQ(rescued.reason_code, RunReason::effect_unknown);
    const Run answered = runs_.answer_effect(
        run, {.call = CallId("c"), .kind = kind, .observation = "[1]", .answered_by = "ann"});
    EXPECT_EQ(answered.lifecycle,
              kind == Kind::abort ? RunLifecycle::terminal : RunLifecycle::active);
    EXPECT_EQ(runs_.calls().get(run, CallId("c")).status,
              kind == Kind::completed ? CallStatus::completed
              : kind == Kind::retry   ? CallStatus::requested
                                      : CallStatus::failed);
    if (kind != Kind::abort) runs_.finish(run, RunEnd::failed("stop"));
    expect_sound(run);
  }
}

TEST_F(RunProcessesTest, AnApprovalOutlivesTheProcessThatAskedForIt) {
  const RunId run = start().id;
  kill_after(run, "ask", "asked");
  ProcessSwarm decider({actor(run, {"decide", "c", "bob"})});
  decider.go();
  EXPECT_THAT(decider.finish(), ElementsAre(ElementsAre("won")));
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

TEST_F(RunProcessesTest, OfTwoDecidersOneWinsAndTheOtherIsToldWho) {
  const RunId run = start().id;
  for (const std::string call : {"1", "2", "3", "4"}) {
    runs_.calls().request(run, {.id = CallId(call), .tool_name = "sh"});
    runs_.calls().request_approval(run, CallId(call), {Capability::network});
    ProcessSwarm swarm({actor(run, {"decide", call, "ann"}), actor(run, {"decide", call, "bob"})});
    swarm.go();
    const auto said = swarm.finish();
    const std::string winner = *runs_.calls().find_approval(run, CallId(call))->decided_by;
    EXPECT_THAT(said, UnorderedElementsAre(ElementsAre("won"), ElementsAre(winner)));
  }
  expect_sound(run);
}

}  // namespace
}  // namespace threadstore::test
