#include "threadstore/jobs.h"

#include "tests/state/threads/records_test.h"

namespace threadstore::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class JobsTest : public RecordsTest {
 protected:
  std::vector<std::string> listed(const JobFilter& filter = {}) {
    std::vector<std::string> ids;
    for (const Job& job : jobs.list(filter).items) ids.push_back(job.id.str());
    return ids;
  }

  Job queue(const std::string& id) { return jobs.save({.id = JobId(id), .name = "n"}); }

  Jobs jobs = store.jobs();
};

TEST_F(JobsTest, ASavedJobReadsBackEqual) {
  const Job saved = jobs.save({.id = JobId("j"),
                               .name = "build",
                               .status = JobStatus::paused,
                               .progress = 40,
                               .detail = "half",
                               .created_at = 11,
                               .updated_at = 12,
                               .max_attempts = 5});
  EXPECT_EQ(saved, (Job{.id = JobId("j"),
                        .name = "build",
                        .status = JobStatus::paused,
                        .progress = 40,
                        .detail = "half",
                        .created_at = 11,
                        .updated_at = 12,
                        .max_attempts = 5}));
  EXPECT_EQ(jobs.get(JobId("j")), saved);
  const Job replaced = jobs.save({.id = JobId("j"), .name = "again"});
  EXPECT_EQ(replaced, (Job{.id = JobId("j"),
                           .name = "again",
                           .created_at = 11,
                           .updated_at = seconds,
                           .max_attempts = 5}));
}

TEST_F(JobsTest, ProgressOutsideItsRangeIsRefusedOnWritingAndAbsentOnReading) {
  queue("j");
  EXPECT_THAT(error_of([&] { jobs.save({.id = JobId("j"), .name = "n", .progress = 101}); }),
              AllOf(StartsWith("invalid_argument"), HasSubstr("101")));
  EXPECT_THAT(error_of([&] { jobs.update(JobId("j"), {.progress = -1}); }),
              StartsWith("invalid_argument"));
  EXPECT_EQ(jobs.get(JobId("j")).progress, std::nullopt);
  const auto stored = [&](const std::string& value) {
    other.run("UPDATE jobs SET progress = " + value);
    return jobs.get(JobId("j")).progress;
  };
  EXPECT_EQ(stored("0"), 0);
  EXPECT_EQ(stored("255"), 255);
  EXPECT_EQ(stored("256"), std::nullopt);
  EXPECT_EQ(stored("-1"), std::nullopt);
  EXPECT_EQ(stored("'half'"), std::nullopt);
}

TEST_F(JobsTest, UpdateKeepsWhatItDoesNotName) {
  jobs.save({.id = JobId("j"), .name = "n", .progress = 10, .detail = "d"});
  seconds += 5;
  const Job after = jobs.update(JobId("j"), {.progress = 20});
  EXPECT_EQ(after.progress, 20);
  EXPECT_EQ(after.detail, "d");
  EXPECT_EQ(after.updated_at, seconds);
  EXPECT_EQ(jobs.update(JobId("j"), {.detail = clear}).detail, std::nullopt);
  EXPECT_THAT(error_of([&] { jobs.update(JobId("none"), {}); }), StartsWith("not_found"));
}

TEST_F(JobsTest, ListIsByLastUpdateAndFiltersAsJobsRead) {
  for (const char* id : {"a", "b", "c"}) {
    queue(id);
    ++seconds;
  }
  jobs.update(JobId("a"), {.status = JobStatus::running});
  other.run("UPDATE jobs SET status = 'someday' WHERE id = 'b'");
  EXPECT_EQ(listed(), (std::vector<std::string>{"a", "c", "b"}));
  EXPECT_EQ(listed({.status = JobStatus::queued}), (std::vector<std::string>{"c", "b"}));
  const auto page = jobs.list({.limit = 2});
  EXPECT_EQ(listed({.limit = 2, .after = page.next}), (std::vector<std::string>{"b"}));
}

TEST_F(JobsTest, ClaimTakesTheOldestQueuedJobWithALease) {
  jobs.save({.id = JobId("b"), .name = "n", .created_at = 5});
  jobs.save({.id = JobId("a"), .name = "n", .created_at = 5});
  jobs.save({.id = JobId("c"), .name = "n", .status = JobStatus::paused, .created_at = 1});
  other.run("INSERT INTO jobs VALUES ('d', 'n', 'someday', NULL, NULL, 1, 1)");
  const auto claimed = jobs.claim("worker 1");
  ASSERT_TRUE(claimed.has_value());
  EXPECT_EQ(claimed->job, (Job{.id = JobId("a"),
                               .name = "n",
                               .status = JobStatus::running,
                               .created_at = 5,
                               .updated_at = seconds,
                               .owner = "worker 1",
                               .claimed_at = seconds,
                               .attempts = 1}));
  EXPECT_TRUE(store.leases().find(LeaseKind::job, "a")->alive);
  const auto next = jobs.claim("worker 1");
  EXPECT_EQ(next->job.id.str(), "b");
  EXPECT_FALSE(jobs.claim("worker 1").has_value());
}

TEST_F(JobsTest, AWorkerThatLetGoIsADeadOneAndTheAttemptsAreCapped) {
  jobs.save({.id = JobId("j"), .name = "n", .max_attempts = 2});
  // The row of a lease stays while its lock is gone, as after kill -9.
  {
    auto claimed = jobs.claim("w");
    ASSERT_TRUE(claimed.has_value());
    other.run("CREATE TABLE kept AS SELECT * FROM leases");
  }
  other.run("INSERT INTO leases SELECT * FROM kept");
  EXPECT_TRUE(jobs.get(JobId("j")).interrupted);
  EXPECT_EQ(jobs.requeue_interrupted().at(0).status, JobStatus::queued);
  {
    auto claimed = jobs.claim("w");
    ASSERT_EQ(claimed->job.attempts, 2);
    other.run("DELETE FROM kept");
    other.run("INSERT INTO kept SELECT * FROM leases");
  }
  other.run("INSERT INTO leases SELECT * FROM kept");
  EXPECT_FALSE(jobs.claim("w").has_value());
  const Job given_up = jobs.get(JobId("j"));
  EXPECT_EQ(given_up.status, JobStatus::failed);
  EXPECT_EQ(given_up.detail, "given up: 2 workers died");
  EXPECT_EQ(given_up.owner, std::nullopt);
}

TEST_F(JobsTest, ATokenIsStaleOnceTheJobWasRequeued) {
  queue("j");
  const auto claimed = jobs.claim("slow");
  EXPECT_EQ(jobs.requeue(JobId("j")).status, JobStatus::queued);
  const auto again = jobs.claim("fast");
  EXPECT_EQ(again->job.attempts, 2);
  EXPECT_THAT(error_of([&] { jobs.update(JobId("j"), {.progress = 50}, claimed->lease.token()); }),
              StartsWith("conflict"));
  EXPECT_EQ(jobs.update(JobId("j"), {.progress = 60}, again->lease.token()).progress, 60);
  EXPECT_EQ(jobs.update(JobId("j"), {.status = JobStatus::completed}, again->lease.token()).owner,
            std::nullopt);
  EXPECT_THAT(error_of([&] { jobs.requeue(JobId("j")); }), StartsWith("conflict"));
}

TEST_F(JobsTest, ADetachedClaimIsNeverTakenForDead) {
  queue("j");
  EXPECT_EQ(jobs.claim_detached("script")->owner, "script");
  EXPECT_FALSE(jobs.claim("w").has_value());
  EXPECT_FALSE(jobs.get(JobId("j")).interrupted);
}

TEST_F(JobsTest, AttemptsSurviveAReplaceButNotADelete) {
  queue("j");
  jobs.claim_detached("w");
  other.run("INSERT OR REPLACE INTO jobs VALUES ('j', 'n', 'queued', NULL, NULL, 1, 1)");
  EXPECT_EQ(jobs.get(JobId("j")).attempts, 1);
  other.run("DELETE FROM jobs");
  queue("j");
  EXPECT_EQ(jobs.get(JobId("j")).attempts, 0);
  EXPECT_TRUE(jobs.remove(JobId("j")));
  EXPECT_FALSE(jobs.remove(JobId("j")));
  EXPECT_EQ(jobs.find(JobId("j")), std::nullopt);
}

TEST(JobsFixtureTest, ReadsWhatTheOriginalStored) {
  FixtureStore original("original-v5");
  const auto jobs = original.store->jobs().list().items;
  ASSERT_EQ(jobs.size(), 6u);
  const JobStatus status[] = {JobStatus::queued,    JobStatus::running, JobStatus::paused,
                              JobStatus::completed, JobStatus::failed,  JobStatus::cancelled};
  for (int i = 0; i < 6; ++i) {
    const std::string number = std::to_string(i);
    Job expected{.id = JobId("job-" + number),
                 .name = "job number " + number,
                 .status = status[i],
                 .created_at = 1770000000 + i,
                 .updated_at = 1770000100 + i};
    if (i > 0) expected.progress = 20 * i;
    if (i % 2 == 1) expected.detail = "detail " + number;
    EXPECT_EQ(jobs[static_cast<std::size_t>(5 - i)], expected);  // the most recent first
  }
  EXPECT_FALSE(jobs[4].interrupted) << "nobody can tell who ran it";
}

}  // namespace
}  // namespace threadstore::test
