#include <signal.h>

#include <map>

#include "tests/state/threads/records_test.h"
#include "tests/support/child_process.h"
#include "tests/support/process_swarm.h"

namespace threadstore::test {
namespace {

/// Several processes on one store.
class RecordProcessesTest : public RecordsTest {
 protected:
  /// What `count` processes said that began at the same moment, as far as that can be.
  std::vector<std::vector<std::string>> run(std::size_t count, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {RECORD_ACTOR, file.string()});
    ProcessSwarm swarm(std::vector<std::vector<std::string>>(count, arguments));
    swarm.go();
    return swarm.finish();
  }
};

TEST_F(RecordProcessesTest, EightProcessesClaimAThousandJobsEachOnce) {
  store.transaction([&] {
    for (int i = 0; i < 1000; ++i) {
      store.jobs().save({.id = JobId("job-" + std::to_string(i)), .name = "n"});
    }
  });
  std::map<std::string, int> claims;
  for (const auto& lines : run(8, {"work"})) {
    for (const std::string& id : lines) ++claims[id];
  }
  EXPECT_EQ(claims.size(), 1000u);
  for (const auto& [id, count] : claims) EXPECT_EQ(count, 1) << id;
  EXPECT_EQ(other.ask("SELECT status, count(*) FROM jobs GROUP BY status"), "completed|1000");
  EXPECT_EQ(other.ask("SELECT count(*) FROM leases"), "0");
  EXPECT_EQ(other.ask("SELECT sum(attempts) FROM job_claims"), "1000");
}

TEST_F(RecordProcessesTest, TheJobOfAKilledWorkerIsClaimedByAnother) {
  store.jobs().save({.id = JobId("j"), .name = "n"});
  ChildProcess worker({RECORD_ACTOR, file.string(), "hold"});
  EXPECT_EQ(worker.read_line(), "ready");
  worker.write_line("go");
  EXPECT_EQ(worker.read_line(), "j");
  EXPECT_FALSE(store.jobs().claim("other").has_value()) << "its worker lives";
  EXPECT_FALSE(store.jobs().get(JobId("j")).interrupted);
  worker.kill(SIGKILL);
  worker.wait();
  const Job interrupted = store.jobs().get(JobId("j"));
  EXPECT_TRUE(interrupted.interrupted);
  EXPECT_EQ(interrupted.owner, "doomed");
  const auto claimed = store.jobs().claim("other");
  ASSERT_TRUE(claimed.has_value());
  EXPECT_EQ(claimed->job.owner, "other");
  EXPECT_EQ(claimed->job.attempts, 2);
}

TEST_F(RecordProcessesTest, EightProcessesAccrueExactlyAndPassTheBudgetOnce) {
  const ThreadId thread = make_thread("t1");
  store.goals().set(thread, {.objective = "o", .token_budget = 4321});
  std::map<std::string, int> answers;
  for (const auto& lines : run(8, {"accrue", "t1", "1000"})) {
    for (const std::string& answer : lines) ++answers[answer];
  }
  const Goal goal = store.goals().get(thread);
  EXPECT_EQ(goal.tokens_used, 8000);
  EXPECT_EQ(goal.time_used_seconds, 8000);
  EXPECT_EQ(goal.status, GoalStatus::budget_limited);
  EXPECT_EQ(answers, (std::map<std::string, int>{{"counted", 7999}, {"passed", 1}}));
}

}  // namespace
}  // namespace threadstore::test
