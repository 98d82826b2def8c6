// A harness that is killed again and again: every step is committed once, and nothing is paid
// twice.
#include <signal.h>

#include <random>
#include <set>

#include "tests/process/store_fixture.h"

namespace threadstore::test {
namespace {

constexpr std::int64_t kSteps = 250;
constexpr int kKills = 10;

class StepHarnessTest : public StoreFixture {
 protected:
  Command harness(const RunId& run) const {
    return {STEP_ACTOR, database().string(), "harness", run.str(), std::to_string(kSteps)};
  }
  Command decider(const std::string& name) const {
    return {STEP_ACTOR, database().string(), "decide", name};
  }

  /// Drives the run until so many more steps were acknowledged, then kills the process wherever it
  /// is. Returns the last step that it said it had committed.
  std::int64_t drive_and_kill(const RunId& run, int acknowledged) {
    ChildProcess process(harness(run));
    std::int64_t last = 0;
    for (; acknowledged > 0; --acknowledged) {
      const auto line = process.read_line();
      if (!line || !line->starts_with("committed ")) {
        ADD_FAILURE() << "the harness ended by itself: " << line.value_or("(silent)");
        return last;
      }
      last = std::stoll(line->substr(10));
    }
    process.kill(SIGKILL);
    for (const std::string& line : read_lines(process)) {
      if (line.starts_with("committed ")) last = std::stoll(line.substr(10));
    }
    EXPECT_EQ(process.wait(), 128 + SIGKILL);
    return last;
  }

  void drive_to_the_end(const RunId& run) {
    ChildProcess process(harness(run));
    const auto said = read_lines(process);
    ASSERT_FALSE(said.empty());
    EXPECT_EQ(said.back(), "done");
    EXPECT_EQ(process.wait(), 0);
  }
};

TEST_F(StepHarnessTest, TenKillsCommitEveryStepOnceAndPayForItOnce) {
  const auto store = open();
  RunTrace trace = store.runs("/work").trace();
  const RunId run = trace.start_run({.goal = "all of it"});
  const RunId whole = trace.start_run({.goal = "the same without a crash"});
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  double elapsed = 0;
  for (int kill = 0; kill < kKills && !HasFailure(); ++kill) {
    const std::int64_t acknowledged = drive_and_kill(run, 1 + static_cast<int>(random() % 23));
    EXPECT_GE(trace.last_committed_step(run), acknowledged);
    EXPECT_EQ(trace.status(run), RunStatus::running);
    EXPECT_GT(trace.elapsed_secs(run), elapsed);
    elapsed = trace.elapsed_secs(run);
  }
  drive_to_the_end(run);
  drive_to_the_end(whole);

  std::set<std::int64_t> committed;
  for (const RunStep& step : trace.steps(run)) {
    EXPECT_TRUE(step.committed_sequence);
    EXPECT_TRUE(committed.insert(step.step).second) << "step " << step.step << " twice";
  }
  EXPECT_EQ(committed.size(), static_cast<std::size_t>(kSteps));
  std::int64_t checkpoints = 0;
  std::int64_t resumes = 0;
  for (const StepEvent& event : trace.checkpoint_events(run)) {
    if (event.kind == StepKind::checkpoint) ++checkpoints;
    if (event.kind == StepKind::resume) ++resumes;
  }
  EXPECT_EQ(checkpoints, kSteps);
  EXPECT_EQ(resumes, kKills + 1);
  EXPECT_EQ(trace.spent_tokens(run), trace.spent_tokens(whole));
  EXPECT_EQ(trace.spent_tokens_tree(run), trace.spent_tokens_tree(whole));
  EXPECT_EQ(trace.agent_count_tree(run), 1 + kSteps / 50);
  EXPECT_TRUE(store.runs("/work").projections().verify(run).ok());
  EXPECT_GT(trace.elapsed_secs(run), elapsed);
  const double at_the_end = trace.elapsed_secs(run);
  const auto later = open();
  EXPECT_EQ(later.runs("/work").trace().elapsed_secs(run), at_the_end);
  EXPECT_EQ(later.runs("/work").trace().outcome(run), "success");
  expect_whole(store);
}

TEST_F(StepHarnessTest, OfTwoProcessesOneDecidesAndTheOtherIsToldWho) {
  const auto store = open();
  RunTrace trace = store.runs("/work").trace();
  const RunId run = trace.start_run({.goal = "ask"});
  ChildProcess ann(decider("ann"));
  ChildProcess bob(decider("bob"));
  ASSERT_EQ(ann.read_line(), "ready");
  ASSERT_EQ(bob.read_line(), "ready");
  for (std::int64_t round = 1; round <= 100 && !HasFailure(); ++round) {
    const RequestId request =
        trace.put_pending(run, {.step = round, .act = "exec", .target = "make"});
    ann.write_line(std::to_string(to_int(request)));
    bob.write_line(std::to_string(to_int(request)));
    const std::string said_ann = ann.read_line().value_or("");
    const std::string said_bob = bob.read_line().value_or("");
    const std::string winner = trace.pending(request)->decided_by.value_or("");
    EXPECT_EQ(said_ann, winner == "ann" ? "won" : "bob");
    EXPECT_EQ(said_bob, winner == "bob" ? "won" : "ann");
  }
  EXPECT_TRUE(trace.pending_approvals().empty());
}

}  // namespace
}  // namespace threadstore::test
