#include "tests/state/db/sqlite_connection.h"
#include "tests/state/runs/run_fixture.h"

namespace threadstore::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using Json = nlohmann::json;

const std::string kHash(64, 'a');

class RunMemoryTest : public RunFileFixture {
 protected:
  void change(const std::string& statement) const { sql(open_sqlite(file_).get(), statement); }
  WorkingState state() const { return runs_.projections().working_state(run_); }
  void artifact(const std::string& path) {
    runs_.artifacts().record(run_, {.relative_path = path, .sha256 = kHash, .size = 1});
  }

  const RunId run_ = start().id;
};

TEST_F(RunMemoryTest, TheNewestCheckpointIsGivenBackExactly) {
  EXPECT_EQ(runs_.checkpoints().latest(run_), std::nullopt);
  runs_.checkpoints().save(run_, {.schema_version = 1, .turn = 0, .state = "[1]"});
  now_ += 4;
  const RunCheckpoint saved = runs_.checkpoints().save(
      run_, {.schema_version = 3, .turn = 2, .state = R"({ "big": 12345678901234567890 })"});
  EXPECT_EQ(saved, (RunCheckpoint{.run_id = run_,
                                  .sequence = 3,
                                  .schema_version = 3,
                                  .turn = 2,
                                  .created_at = now_,
                                  .state = R"({ "big": 12345678901234567890 })"}));
  EXPECT_EQ(runs_.checkpoints().latest(run_), saved);
  EXPECT_EQ(payload(run_, 3), (Json{{"schema_version", 3}, {"turn", 2}}));
  EXPECT_THAT(types(run_), ElementsAre("run.started", "checkpoint.created", "checkpoint.created"));
}

TEST_F(RunMemoryTest, BadCheckpointsUseNoSequenceUp) {
  const auto save = [&](const NewRunCheckpoint& bad) {
    return error_of([&] { runs_.checkpoints().save(run_, bad); });
  };
  const auto refused = ErrorCode::invalid_argument;
  EXPECT_EQ(save({.schema_version = 0}), refused);
  EXPECT_EQ(save({.turn = -1}), refused);
  EXPECT_EQ(save({.state = "x"}), refused);
  EXPECT_EQ(save({.keep_last = 0}), refused);
  EXPECT_EQ(save({.state = '"' + std::string(default_run_content_limit, 'x') + '"'}), refused);
  EXPECT_EQ(runs_.get(run_).last_sequence, 1);
}

TEST_F(RunMemoryTest, TheLastCheckpointsAndTheNamedOnesStay) {
  runs_.checkpoints().save(run_, {.name = "start"});
  for (int turn = 1; turn <= 5; ++turn) {
    runs_.checkpoints().save(run_, {.turn = turn, .keep_last = 2});
  }
  runs_.checkpoints().save(run_, {.turn = 9, .name = "end"});
  std::vector<std::int64_t> turns;
  for (const auto& checkpoint : runs_.checkpoints().list(run_)) turns.push_back(checkpoint.turn);
  EXPECT_THAT(turns, ElementsAre(9, 5, 4, 0));
  runs_.checkpoints().save(run_, {.turn = 11, .name = "start"});
  EXPECT_EQ(runs_.checkpoints().find(run_, "start")->turn, 11);
  EXPECT_EQ(runs_.checkpoints().list(run_).size(), 4U);
}

TEST_F(RunMemoryTest, ArtifactsKeepTheirOrderAndNeverChange) {
  artifact("out/b.txt");
  artifact("out/a.txt");
  EXPECT_THAT(runs_.artifacts().list(run_), ElementsAre(RunArtifact{2, "out/b.txt", kHash, 1},
                                                        RunArtifact{3, "out/a.txt", kHash, 1}));
  EXPECT_EQ(payload(run_, 2),
            (Json{{"relative_path", "out/b.txt"}, {"sha256", kHash}, {"size", 1}}));
  EXPECT_EQ(error_of([&] { artifact("out/a.txt"); }), ErrorCode::conflict);
  runs_.finish(run_, RunEnd::failed("x"));
  EXPECT_EQ(error_of([&] { artifact("late"); }), ErrorCode::conflict);
  runs_.reopen(run_, 4);
  EXPECT_EQ(runs_.artifacts().list(run_).size(), 2U);
  EXPECT_EQ(error_of([&] { artifact("out/a.txt"); }), ErrorCode::conflict);
}

TEST_F(RunMemoryTest, PathsThatLeaveTheDirectoryAreRefused) {
  for (const std::string& path :
       {std::string(), std::string("/absolute"), std::string("../escape"),
        std::string("a/../escape"), std::string("./dot"), std::string("a//b"), std::string("a/"),
        std::string("a\\b"), std::string("C:/path"), std::string("a\nb"), std::string("a\x7f"),
        std::string(1025, 'a')}) {
    EXPECT_EQ(error_of([&] { artifact(path); }), ErrorCode::invalid_argument) << path;
  }
  const auto record = [&](const std::string& hash, std::int64_t size) {
    return error_of([&] { runs_.artifacts().record(run_, {"x" + hash, hash, size}); });
  };
  EXPECT_EQ(record(std::string(64, 'A'), 1), ErrorCode::invalid_argument);
  EXPECT_EQ(record(std::string(63, 'a'), 1), ErrorCode::invalid_argument);
  EXPECT_EQ(record(kHash, -1), ErrorCode::invalid_argument);
  EXPECT_EQ(record(kHash, 16'777'217), ErrorCode::invalid_argument);
  EXPECT_EQ(runs_.get(run_).last_sequence, 1);
  artifact(std::string(1024, 'a'));
  artifact("..a/.b/c...");
  EXPECT_EQ(record(kHash, 16'777'216), std::nullopt);
}

TEST_F(RunMemoryTest, TheWorkingStateTellsWhereTheRunStands) {
  runs_.accounts().request_model(run_);
  artifact("a");
  const WorkingState now = state();
  EXPECT_EQ(now.status, WorkingStateStatus::current);
  EXPECT_EQ(now.version, 1);
  EXPECT_EQ(now.revision, 3);
  EXPECT_EQ(now.event_cursor, 3);
  EXPECT_EQ(
      Json::parse(*now.snapshot),
      (Json{
          {"objective", {{"kind", "run_input"}, {"run_id", run_.str()}}},
          {"run", {{"lifecycle", "active"}, {"outcome", nullptr}, {"reason_code", nullptr}}},
          {"usage",
           {{"model_turns", 1},
            {"input_tokens", nullptr},
            {"output_tokens", nullptr},
            {"total_tokens", nullptr},
            {"responses_with_usage", 0},
            {"responses_without_usage", 0},
            {"tool_calls", 0},
            {"token_accounting", "unavailable"}}},
          {"latest_event", {{"sequence", 3}, {"event_type", "artifact.created"}}},
          {"artifacts",
           {{"items", {{{"sequence", 3}, {"relative_path", "a"}, {"sha256", kHash}, {"size", 1}}}},
            {"total", 1},
            {"omitted", 0}}}}));
  runs_.finish(run_, RunEnd::failed("x", RunReason::model_error));
  EXPECT_EQ(
      Json::parse(*state().snapshot)["run"],
      (Json{{"lifecycle", "terminal"}, {"outcome", "failed"}, {"reason_code", "model_error"}}));
}

TEST_F(RunMemoryTest, TheNewest128ArtifactsAreShown) {
  store_.transaction([&] {
    for (int i = 0; i < 129; ++i) {
      artifact("out/" + std::string(i < 10 ? "00" : i < 100 ? "0" : "") + std::to_string(i));
    }
  });
  const Json artifacts = Json::parse(*state().snapshot)["artifacts"];
  EXPECT_EQ(artifacts["total"], 129);
  EXPECT_EQ(artifacts["omitted"], 1);
  EXPECT_EQ(artifacts["items"].size(), 128U);
  EXPECT_EQ(artifacts["items"].front()["relative_path"], "out/001");
  EXPECT_EQ(artifacts["items"].back()["relative_path"], "out/128");
}

TEST_F(RunMemoryTest, AStateThatCannotBeTrustedSaysSoUntilItIsRebuilt) {
  artifact("a");
  const WorkingState good = state();
  const std::string where = " WHERE run_id = '" + run_.str() + "'";
  struct Case {
    std::string damage;
    WorkingStateStatus status;
  };
  for (const Case& broken : std::vector<Case>{
           {"UPDATE run_working_state SET head = '{}'", WorkingStateStatus::unavailable},
           {"UPDATE run_working_state SET head = 'x'", WorkingStateStatus::unavailable},
           {"UPDATE run_working_state SET artifacts = '{}'", WorkingStateStatus::unavailable},
           {"UPDATE run_working_state SET event_cursor = 99", WorkingStateStatus::unavailable},
           {"UPDATE run_working_state SET event_cursor = -1", WorkingStateStatus::unavailable},
           {"UPDATE run_working_state SET projection_version = 99",
            WorkingStateStatus::unsupported}}) {
    const std::int64_t revision = *state().revision;
    change(broken.damage + where);
    EXPECT_EQ(state().status, broken.status) << broken.damage;
    EXPECT_EQ(state().snapshot, std::nullopt);
    const WorkingState rebuilt = runs_.projections().rebuild_working_state(run_);
    EXPECT_EQ(rebuilt.status, WorkingStateStatus::current);
    EXPECT_EQ(rebuilt.revision, revision + 1);
    EXPECT_EQ(rebuilt.snapshot, good.snapshot);
    EXPECT_EQ(rebuilt.event_cursor, 2);
  }
  change("DELETE FROM run_working_state" + where);
  EXPECT_EQ(state(), WorkingState{});
  EXPECT_EQ(runs_.projections().rebuild_working_state(run_).revision, 1);
  EXPECT_EQ(runs_.get(run_).last_sequence, 2);
}

TEST_F(RunMemoryTest, AnEarlierStateIsStale) {
  runs_.log().append(run_, "note.x");
  const auto connection = open_sqlite(file_);
  const std::string id = "'" + run_.str() + "'";
  sql(connection.get(),
      "CREATE TABLE kept AS SELECT * FROM run_working_state WHERE run_id = " + id);
  runs_.log().append(run_, "note.y");
  sql(connection.get(),
      "UPDATE run_working_state SET event_cursor = (SELECT event_cursor FROM kept),"
      " head = (SELECT head FROM kept) WHERE run_id = " +
          id);
  EXPECT_EQ(state().status, WorkingStateStatus::stale);
  EXPECT_EQ(Json::parse(*state().snapshot)["latest_event"]["event_type"], "note.x");
  // The next event heals it.
  runs_.log().append(run_, "note.z");
  EXPECT_EQ(state().status, WorkingStateStatus::current);
}

TEST_F(RunMemoryTest, AUsedUpRevisionStopsTheRunWithoutAPartialEffect) {
  change("UPDATE run_working_state SET revision = 9223372036854775807");
  EXPECT_EQ(error_of([&] { runs_.log().append(run_, "note.x"); }), ErrorCode::conflict);
  EXPECT_EQ(error_of([&] { runs_.projections().rebuild_working_state(run_); }),
            ErrorCode::conflict);
  EXPECT_EQ(runs_.get(run_).last_sequence, 1);
}

TEST_F(RunMemoryTest, WhatDiffersFromTheLogIsNamedAndRepaired) {
  const CallId c("c");
  runs_.calls().request(run_, {c, "sh", R"({"cmd":"ls"})"});
  runs_.calls().request_approval(run_, c, {Capability::network});
  runs_.calls().decide(run_, c, {.decision = ApprovalDecision::granted, .decided_by = "ann"});
  runs_.calls().start(run_, c);
  runs_.calls().finish(run_, c, CallOutcome::completed("[1]"));
  runs_.accounts().request_model(run_);
  runs_.accounts().record_response(run_, TokenUsage{1, 2, 3});
  artifact("a");
  artifact("b");
  runs_.finish(run_, RunEnd::failed("x"));
  expect_sound(run_);
  const Run before = runs_.get(run_);
  const auto calls = runs_.calls().list(run_);
  const auto approvals = runs_.calls().approvals(run_);
  change("UPDATE run_calls SET status = 'started', outcome_class = NULL, finished_sequence = NULL");
  change("DELETE FROM run_approvals");
  change("DELETE FROM run_artifacts WHERE relative_path = 'b'");
  change("UPDATE runs SET total_tokens = 99, lifecycle = 'active', outcome = NULL");
  EXPECT_THAT(runs_.projections().verify(run_).what,
              ElementsAre("lifecycle, outcome or reason differ from the log",
                          "usage differs from the log", "call c differs from the log",
                          "the approval of call c is in the log but not in its table",
                          "artifact b is in the log but not in its table",
                          "the working state is unavailable"));
  EXPECT_EQ(runs_.projections().rebuild(run_).what.size(), 6U);
  expect_sound(run_);
  EXPECT_EQ(runs_.get(run_), before);
  EXPECT_EQ(runs_.calls().list(run_), calls);
  EXPECT_EQ(runs_.calls().approvals(run_), approvals);
  EXPECT_THAT(runs_.projections().rebuild(run_).what, IsEmpty());
}

TEST_F(RunMemoryTest, ALogWithAGapIsNotBuiltUpon) {
  runs_.log().append(run_, "note.x");
  runs_.log().append(run_, "note.y");
  change("DELETE FROM run_events WHERE sequence = 2");
  EXPECT_THAT(runs_.projections().verify(run_).what, Not(IsEmpty()));
  EXPECT_EQ(error_of([&] { runs_.projections().rebuild(run_); }), ErrorCode::damaged);
}

}  // namespace
}  // namespace threadstore::test
