// Runs that older programs left: stops without a lifecycle, rows without a root.
#include "tests/state/db/sqlite_connection.h"
#include "tests/state/runs/run_fixture.h"
#include "threadstore/transfer.h"

namespace threadstore::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A status, and what it is to become.
struct Legacy {
  std::string status;
  RunLifecycle lifecycle = RunLifecycle::terminal;
  std::optional<RunOutcome> outcome{};
  std::optional<RunReason> reason{};
  std::optional<std::string> error{};
};

const std::vector<Legacy> kEveryLegacy{
    {"running", RunLifecycle::active},
    {"completed", RunLifecycle::terminal, RunOutcome::completed, RunReason::legacy_completed},
    {"failed", RunLifecycle::terminal, RunOutcome::failed, RunReason::legacy_failure, "boom"},
    {"cancelled", RunLifecycle::terminal, RunOutcome::cancelled, RunReason::legacy_cancelled},
};

class RunLegacyTest : public RunFileFixture {
 protected:
  /// The run of a program that only knew a status, as an import types it: budgets unset, usage
  /// zero, events as they were.
  RunId put(const Legacy& legacy) const {
    const RunId id("legacy-" + legacy.status);
    const bool stopped = legacy.outcome.has_value();
    std::vector<RunEvent> events{
        {.run_id = id, .sequence = 1, .timestamp = 5, .event_type = "run.started", .payload = "{}"},
        {.run_id = id, .sequence = 2, .timestamp = 6, .event_type = "note.x", .payload = "{}"}};
    if (stopped) {
      events.push_back({.run_id = id,
                        .sequence = 3,
                        .timestamp = 7,
                        .event_type = "run." + legacy.status,
                        .payload = "{}"});
    }
    RunRecord record{.run = {.id = id,
                             .workspace_id = "/work",
                             .agent_name = "old",
                             .agent_version = "0",
                             .model = "m",
                             .lifecycle = legacy.lifecycle,
                             .outcome = legacy.outcome,
                             .reason_code = legacy.reason,
                             .created_at = 5,
                             .updated_at = 7,
                             .error = legacy.error,
                             .last_sequence = static_cast<std::int64_t>(events.size()),
                             .lineage = {.root_run_id = id}},
                     .active_since = 5};
    if (stopped) {
      record.run.reason_detail = "{}";
      record.run.completed_at = 7;
    }
    EXPECT_TRUE(Transfer(store_).put_run(record, events));
    EXPECT_FALSE(Transfer(store_).put_run(record, events));
    return id;
  }
};

TEST_F(RunLegacyTest, StatusesBecomeLifecyclesAndOutcomes) {
  for (const Legacy& legacy : kEveryLegacy) {
    const RunId id = put(legacy);
    const Run run = runs_.get(id);
    EXPECT_EQ(run.lifecycle, legacy.lifecycle);
    EXPECT_EQ(run.outcome, legacy.outcome);
    EXPECT_EQ(run.reason_code, legacy.reason);
    EXPECT_EQ(run.reason_detail.has_value(), legacy.outcome.has_value());
    EXPECT_EQ(run.error, legacy.error);
    EXPECT_EQ(run.budgets, RunBudgets{});
    EXPECT_EQ(run.usage, RunUsage{});
    EXPECT_EQ(legacy_status(run), legacy.status);
    EXPECT_EQ(outcome_word(run).has_value(), legacy.outcome.has_value());
    EXPECT_EQ(run.recovery_disposition, legacy.status == "completed"
                                            ? RecoveryDisposition::complete
                                            : RecoveryDisposition::restart_required);
    // What its events do not say about the stop, their type does: a rebuild keeps it.
    expect_sound(id);
    sql(open_sqlite(file_).get(),
        "UPDATE runs SET lifecycle = 'terminal', outcome = 'failed', reason_code = 'tool_error'"
        " WHERE id = '" +
            id.str() + "'");
    runs_.projections().rebuild(id);
    EXPECT_EQ(runs_.get(id), run);
  }
  // Only an import gives these reasons.
  const RunId own = start().id;
  for (const RunReason reason : {RunReason::legacy_completed, RunReason::legacy_cancelled}) {
    EXPECT_EQ(error_of([&] { runs_.finish(own, {.reason = reason}); }),
              ErrorCode::invalid_argument);
  }
}

TEST_F(RunLegacyTest, TheStoppedOnesGoOnAsOthersDo) {
  const RunId running = put(kEveryLegacy[0]);
  EXPECT_EQ(runs_.log().append(running, "note.new"), 3);
  const RunId failed = put(kEveryLegacy[2]);
  EXPECT_EQ(runs_.reopen(failed, 3).lifecycle, RunLifecycle::active);
  const RunId completed = put(kEveryLegacy[1]);
  EXPECT_EQ(error_of([&] { runs_.reopen(completed, 3); }), ErrorCode::conflict);
  for (const RunId& run : {running, failed, completed}) expect_sound(run);
}

TEST_F(RunLegacyTest, AMigrationThatRunsTwiceChangesNothing) {
  for (const Legacy& legacy : kEveryLegacy) put(legacy);
  const RunId root = start().id;
  const RunId child = delegate(root, "c").id;
  runs_.checkpoints().save(child, {.state = R"({"n": 1.0})"});
  runs_.accounts().record_response(child, TokenUsage{1, 2, 3});
  runs_.steps().commit(child, {.step = 1, .tokens = 4});
  const auto connection = open_sqlite(file_);
  sql(connection.get(), "DELETE FROM run_working_state WHERE run_id = '" + root.str() + "'");
  const std::filesystem::path copy = directory_ / "again.db";
  sql(connection.get(), "VACUUM INTO '" + copy.string() + "'");
  sql(open_sqlite(copy).get(),
      "UPDATE threadstore_schema SET version = 0 WHERE component = 'runs'");

  const StateStore store = StateStore::open(copy, options());
  const Runs runs = store.runs("/work");
  EXPECT_EQ(runs.list().items, runs_.list().items);
  for (const Run& run : runs_.list().items) {
    EXPECT_EQ(runs.log().list(run.id), runs_.log().list(run.id));
    EXPECT_EQ(runs.checkpoints().latest(run.id), runs_.checkpoints().latest(run.id));
  }
  EXPECT_EQ(runs.tree().usage(root), runs_.tree().usage(root));
  // No working state is invented.
  EXPECT_EQ(runs.projections().working_state(root), WorkingState{});
  EXPECT_THAT(runs.projections().verify(child).what, IsEmpty());
}

TEST_F(RunLegacyTest, ARunWithoutALineageIsARootAndCanDelegate) {
  const RunId run = start().id;
  sql(open_sqlite(file_).get(), "UPDATE runs SET root_run_id = '' WHERE id = '" + run.str() + "'");
  EXPECT_EQ(runs_.lineage(run), (RunLineage{.root_run_id = run}));
  const Run child = delegate(run, "c");
  EXPECT_EQ(
      child.lineage,
      (RunLineage{
          .root_run_id = run, .parent_run_id = run, .parent_call_id = CallId("c"), .depth = 1}));
  EXPECT_EQ(newest_payload(child.id)["root_run_id"], run.str());
  EXPECT_THAT(runs_.children(run), ElementsAre(child));
  EXPECT_EQ(delegate(child.id, "d").lineage.root_run_id, run);
  runs_.accounts().request_model(child.id);
  EXPECT_EQ(runs_.get(run).usage.model_turns, 1);
  expect_sound(run);
}

}  // namespace
}  // namespace threadstore::test
