// Whole stories of runs, as a caller lives through them.
#include "tests/state/db/sqlite_connection.h"
#include "tests/state/runs/run_fixture.h"

namespace threadstore::test {
namespace {

using testing::ElementsAre;
using Json = nlohmann::json;

class RunHistoryTest : public RunFileFixture {
 protected:
  /// What can be done with the run; every way of reading it must say the same.
  RecoveryDisposition disposition(const RunId& run) const {
    const RecoveryDisposition told = runs_.recovery_disposition(run);
    EXPECT_EQ(runs_.get(run).recovery_disposition, told);
    for (const Run& listed : runs_.list().items) {
      EXPECT_TRUE(listed.id != run || listed.recovery_disposition == told);
    }
    return told;
  }
};

TEST_F(RunHistoryTest, ACompletedRunWithTwoCheckpointsIsClosed) {
  const RunId run = start().id;
  runs_.accounts().record_response(run, TokenUsage{1, 2, 3}, R"({"text":"hm"})");
  now_ += 1;
  runs_.checkpoints().save(run, {.turn = 1, .state = R"({"at": 1})"});
  now_ += 1;
  const std::string state = R"({"at": 2, "big": 12345678901234567890})";
  const RunCheckpoint saved =
      runs_.checkpoints().save(run, {.schema_version = 2, .turn = 2, .state = state});
  now_ += 1;
  const Run done = runs_.finish(run, RunEnd::completed("there"));

  EXPECT_EQ(runs_.checkpoints().latest(run), saved);
  EXPECT_EQ(saved.state, state);
  EXPECT_EQ(saved.turn, 2);
  EXPECT_THAT(types(run), ElementsAre("run.started", "model.responded", "checkpoint.created",
                                      "checkpoint.created", "run.completed"));
  EXPECT_EQ(done.completed_at, now_.load());
  EXPECT_EQ(done.updated_at, now_.load());
  EXPECT_EQ(runs_.log().list(run, 4).at(0).timestamp, now_.load());
  const auto page = runs_.log().list(run, 2, 1);
  ASSERT_EQ(page.size(), 1U);
  EXPECT_EQ(page[0].sequence, 3);

  const auto refused = ErrorCode::conflict;
  EXPECT_EQ(error_of([&] { runs_.log().append(run, "note.late"); }), refused);
  EXPECT_EQ(error_of([&] { runs_.checkpoints().save(run, {}); }), refused);
  EXPECT_EQ(error_of([&] { runs_.finish(run, RunEnd::cancelled()); }), refused);
  EXPECT_EQ(runs_.log().list(run).size(), 5U);
  EXPECT_EQ(runs_.get(run), done);
}

TEST_F(RunHistoryTest, ABlockedRunIsSuspendedAndOldProgramsSeeItFailed) {
  const RunId run = start().id;
  const Run blocked =
      runs_.finish(run, RunEnd::blocked(RunReason::external_dependency, "the API is down"));
  EXPECT_EQ(blocked.outcome, RunOutcome::blocked);
  EXPECT_EQ(blocked.lifecycle, RunLifecycle::suspended);
  EXPECT_EQ(legacy_status(blocked), "failed");
  EXPECT_EQ(blocked.reason_code, RunReason::external_dependency);
  EXPECT_EQ(blocked.reason_detail, R"({"message":"the API is down"})");
  EXPECT_EQ(blocked.output, std::nullopt);
  EXPECT_EQ(blocked.error, std::nullopt);
  EXPECT_EQ(runs_.latest_suspension(run)->outcome, RunOutcome::blocked);
  EXPECT_EQ(types(run).back(), "run.blocked");
  EXPECT_EQ(newest_payload(run)["outcome"], "blocked");
  EXPECT_EQ(error_of([&] { runs_.reopen(run, blocked.last_sequence); }), ErrorCode::conflict);
  EXPECT_EQ(runs_.get(run), blocked);
}

TEST_F(RunHistoryTest, WhatCanBeDoneWithARunFollowsWhatHappenedToIt) {
  using enum RecoveryDisposition;
  const RunId run = start().id;
  EXPECT_EQ(disposition(run), restart_required);
  runs_.checkpoints().save(run, {});
  EXPECT_EQ(disposition(run), resume_eligible);
  runs_.calls().request(run, {CallId("c"), "sh"});
  EXPECT_EQ(disposition(run), resume_eligible);  // nothing ran
  runs_.calls().start(run, CallId("c"));
  EXPECT_EQ(disposition(run), reconciliation_required);
  const RunId blocked = start().id;
  runs_.finish(blocked, RunEnd::blocked(RunReason::external_dependency, "down"));
  EXPECT_EQ(disposition(blocked), suspended);
  const RunId done = start().id;
  runs_.finish(done, RunEnd::completed(""));
  EXPECT_EQ(disposition(done), complete);
}

TEST_F(RunHistoryTest, AReopenedRunHasNothingOfItsEndLeft) {
  const RunId run = start().id;
  runs_.checkpoints().save(run, {});
  RunEnd end = RunEnd::failed("boom", RunReason::model_error, R"({"status":500})");
  end.outcome_text = "escalated";
  const Run stopped = runs_.finish(run, end);
  now_ += 5;
  EXPECT_EQ(error_of([&] { Runs(store_.runs("/other")).reopen(run, stopped.last_sequence); }),
            ErrorCode::not_found);
  EXPECT_EQ(error_of([&] { runs_.reopen(run, stopped.last_sequence + 1); }), ErrorCode::conflict);
  EXPECT_EQ(runs_.get(run), stopped);

  Run open = runs_.reopen(run, stopped.last_sequence);
  Run expected = stopped;
  expected.lifecycle = RunLifecycle::active;
  expected.outcome.reset();
  expected.reason_code.reset();
  expected.reason_detail.reset();
  expected.outcome_text.reset();
  expected.output.reset();
  expected.error.reset();
  expected.completed_at.reset();
  expected.updated_at = now_;
  expected.last_sequence += 1;
  expected.elapsed_ms = 5;
  expected.execution_elapsed_ms = 5;
  EXPECT_EQ(open, expected);
  EXPECT_THAT(runs_.log().list_of_type(run, "run.resumed"), testing::SizeIs(1));
  EXPECT_EQ(newest_payload(run)["previous_status"], "failed");
  EXPECT_EQ(error_of([&] { runs_.reopen(run, stopped.last_sequence); }), ErrorCode::conflict);

  runs_.finish(run, RunEnd::completed("x"));
  EXPECT_EQ(error_of([&] { runs_.reopen(run, runs_.get(run).last_sequence); }),
            ErrorCode::conflict);
  EXPECT_EQ(runs_.get(run).outcome, RunOutcome::completed);
}

TEST_F(RunHistoryTest, ArtifactsAndDecisionsSurviveReopeningTheFile) {
  const RunId run = start().id;
  const CallId c("c");
  const auto artifact = [&](const Runs& runs, const std::string& path) {
    return error_of([&] { runs.artifacts().record(run, {path, std::string(64, 'a'), 7}); });
  };
  EXPECT_EQ(artifact(runs_, "out/a"), std::nullopt);
  runs_.calls().request(run, {c, "sh"});
  runs_.calls().request_approval(run, c, {Capability::network});
  runs_.calls().decide(run, c, {.decision = ApprovalDecision::granted, .decided_by = "ann"});
  const std::filesystem::path copy = directory_ / "copy.db";
  sql(open_sqlite(file_).get(), "VACUUM INTO '" + copy.string() + "'");

  const StateStore store = StateStore::open(copy, options());
  Runs runs = store.runs("/work");
  EXPECT_THAT(runs.artifacts().list(run),
              ElementsAre(RunArtifact{2, "out/a", std::string(64, 'a'), 7}));
  EXPECT_EQ(artifact(runs, "out/a"), ErrorCode::conflict);
  EXPECT_EQ(artifact(runs, "out/b"), std::nullopt);
  EXPECT_EQ(error_of([&] { runs.calls().decide(run, c, {.decided_by = "bob"}); }),
            ErrorCode::conflict);
  EXPECT_EQ(runs.calls().start(run, c).status, CallStatus::started);
  runs.finish(run, RunEnd::failed("x"));
  EXPECT_EQ(artifact(runs, "out/late"), ErrorCode::conflict);
  EXPECT_EQ(runs.artifacts().list(run).size(), 2U);
}

TEST_F(RunHistoryTest, RunsThatAreRemovedNeverGiveTheirCursorsToOthers) {
  const ThreadId thread = store_.threads().create({}).thread.id;
  const RunId first =
      runs_.create({.agent_name = "a", .agent_version = "1", .model = "m", .thread_id = thread}).id;
  runs_.log().append(first, "note.x");
  const std::int64_t seen = runs_.log().newest_gid();
  store_.threads().remove(thread);
  const RunId second = start().id;
  const auto news = runs_.log().since(seen);
  ASSERT_EQ(news.size(), 1U);
  EXPECT_EQ(news[0].run_id, second);
  EXPECT_GT(news[0].gid, seen);
  // In pages too, whatever lies between.
  runs_.log().append(second, "note.1");
  runs_.log().append(second, "note.2");
  std::vector<std::string> read;
  for (std::int64_t cursor = seen;;) {
    const auto page = runs_.log().since(cursor, 1);
    if (page.empty()) break;
    cursor = page.back().gid;
    read.push_back(page.back().event_type);
  }
  EXPECT_THAT(read, ElementsAre("run.started", "note.1", "note.2"));
}

TEST_F(RunHistoryTest, AStaleWorkingStateIsMadeAgainWithoutAnEvent) {
  const RunId run = start().id;
  runs_.artifacts().record(run, {"a", std::string(64, 'a'), 7});
  runs_.log().append(run, "note.x");
  const WorkingState good = runs_.projections().working_state(run);
  const auto connection = open_sqlite(file_);
  sql(connection.get(),
      "CREATE TABLE kept AS SELECT event_cursor AS cursor, head FROM run_working_state");
  runs_.log().append(run, "note.y");
  const WorkingState newest = runs_.projections().working_state(run);
  sql(connection.get(),
      "UPDATE run_working_state SET (event_cursor, head) = (SELECT cursor, head FROM kept)");
  const WorkingState stale = runs_.projections().working_state(run);
  EXPECT_EQ(stale.status, WorkingStateStatus::stale);
  EXPECT_EQ(stale.snapshot, good.snapshot);
  const WorkingState rebuilt = runs_.projections().rebuild_working_state(run);
  EXPECT_EQ(rebuilt.status, WorkingStateStatus::current);
  EXPECT_EQ(rebuilt.revision, *stale.revision + 1);
  EXPECT_EQ(rebuilt.event_cursor, 4);
  EXPECT_EQ(rebuilt.snapshot, newest.snapshot);
  EXPECT_EQ(runs_.get(run).last_sequence, 4);
  // In any lifecycle.
  runs_.finish(run, RunEnd::completed(""));
  EXPECT_EQ(runs_.projections().rebuild_working_state(run).status, WorkingStateStatus::current);
}

}  // namespace
}  // namespace threadstore::test
