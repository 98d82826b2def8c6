#include <gmock/gmock.h>

#include "base/sha256.h"
#include "tests/state/db/sqlite_connection.h"
#include "tests/state/runs/run_fixture.h"
#include "threadstore/import_runs.h"

namespace threadstore::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

RunId run_id(int number) {
  return RunId("00000000-0000-4000-8000-00000000000" + std::to_string(number));
}

class ImportContextTest : public RunFixture {
 protected:
  const std::filesystem::path source_ = fixture("context-harness") / "app.db";

  ImportRunsReport bring(const std::filesystem::path& file) {
    return import_runs(store_, file, {.workspace = "/unused"});
  }
  std::filesystem::path copy() {
    const auto file = directory_ / "app.db";
    std::filesystem::copy_file(source_, file);
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return file;
  }
  Runs a() { return store_.runs("ws-a"); }
  Runs b() { return store_.runs("ws-b"); }

  void expect_all_sound() {
    for (const std::string workspace : {"ws-a", "ws-b"}) {
      const Runs runs = store_.runs(workspace);
      for (const Run& run : runs.list({.limit = 100}).items) {
        EXPECT_THAT(runs.projections().verify(run.id).what, IsEmpty()) << run.id.str();
      }
    }
  }
};

TEST_F(ImportContextTest, EveryRunIsTakenOnceAndTheSourceStays) {
  const std::string before = base::sha256_of_file(source_);
  const ImportRunsReport report = bring(source_);
  EXPECT_EQ(report.kind, RunStoreKind::context_harness);
  EXPECT_THAT(report.not_understood, IsEmpty());
  EXPECT_EQ(report.imported, (ImportedRuns{.runs = 5,
                                           .events = 20,
                                           .calls = 2,
                                           .approvals = 1,
                                           .artifacts = 1,
                                           .checkpoints = 1,
                                           .suspensions = 1}));
  EXPECT_EQ(base::sha256_of_file(source_), before);
  const std::int64_t newest = a().log().newest_gid();
  const ImportRunsReport again = bring(source_);
  EXPECT_EQ(again.imported, ImportedRuns{});
  EXPECT_EQ(again.already_present, 5);
  EXPECT_EQ(a().log().newest_gid(), newest);
  expect_all_sound();
}

TEST_F(ImportContextTest, ACompletedRunHasEverythingThatBelongsToIt) {
  bring(source_);
  const Run run = a().get(run_id(1));
  EXPECT_EQ(run.workspace_id, "ws-a");
  EXPECT_EQ(run.agent_name, "coder");
  EXPECT_EQ(run.agent_version, "1.2.0");
  EXPECT_EQ(run.model, "m-1");
  EXPECT_EQ(run.lifecycle, RunLifecycle::terminal);
  EXPECT_EQ(run.outcome, RunOutcome::completed);
  EXPECT_EQ(run.reason_code, RunReason::final_response);
  EXPECT_EQ(run.reason_detail, "{}");
  EXPECT_EQ(run.created_at, 1'767'323'045'679);
  EXPECT_EQ(run.updated_at, 1'767'323'045'729);
  EXPECT_EQ(run.completed_at, 1'767'323'045'729);
  EXPECT_EQ(run.elapsed_ms, 50);
  EXPECT_EQ(run.input, "input 1");
  EXPECT_EQ(run.output, "done");
  EXPECT_EQ(run.last_sequence, 11);
  EXPECT_EQ(run.budgets, (RunBudgets{.max_turns = 5, .max_total_tokens = 1000}));
  EXPECT_EQ(run.usage, (RunUsage{.model_turns = 1,
                                 .input_tokens = 100,
                                 .output_tokens = 20,
                                 .total_tokens = 120,
                                 .responses_with_usage = 1,
                                 .tool_calls = 1}));
  EXPECT_EQ(run.origin_id, run.id.str());
  EXPECT_EQ(run.recovery_disposition, RecoveryDisposition::complete);

  const RunCall call = a().calls().get(run.id, CallId("c1"));
  EXPECT_EQ(call.tool_name, "fs.write");
  EXPECT_EQ(call.requested_sequence, 4);
  EXPECT_EQ(call.arguments, R"({"path":"out/report.md"})");
  EXPECT_EQ(call.status, CallStatus::completed);
  EXPECT_EQ(call.outcome_class, CallOutcomeClass::completed);
  EXPECT_EQ(call.result, R"({"ok":true})");
  EXPECT_EQ(call.started_at, 1'767'323'045'686);
  EXPECT_EQ(call.completed_at, 1'767'323'045'687);
  EXPECT_EQ(call.finished_sequence, 8);

  const auto approval = a().calls().find_approval(run.id, CallId("c1"));
  ASSERT_TRUE(approval);
  EXPECT_THAT(approval->capabilities, ElementsAre(Capability::workspace_write));
  EXPECT_EQ(approval->requested_sequence, 5);
  EXPECT_EQ(approval->decision, ApprovalDecision::granted);
  EXPECT_EQ(approval->decided_sequence, 6);
  EXPECT_EQ(approval->decided_at, 1'767'323'045'685);

  const auto artifacts = a().artifacts().list(run.id);
  ASSERT_THAT(artifacts, SizeIs(1));
  EXPECT_EQ(artifacts[0].relative_path, "out/report.md");
  EXPECT_EQ(artifacts[0].size, 42);
  EXPECT_EQ(artifacts[0].sequence, 9);
  const auto checkpoint = a().checkpoints().latest(run.id);
  ASSERT_TRUE(checkpoint);
  EXPECT_EQ(checkpoint->sequence, 10);
  EXPECT_EQ(checkpoint->turn, 1);
  EXPECT_EQ(checkpoint->state, R"({"next_turn":1})");
  EXPECT_EQ(checkpoint->created_at, 1'767'323'045'689);
  const auto events = a().log().list(run.id);
  ASSERT_THAT(events, SizeIs(11));
  EXPECT_EQ(events[2].event_type, "model.responded");
  EXPECT_EQ(events[2].payload, R"({"text": "ok"})");
  EXPECT_EQ(events[2].timestamp, 1'767'323'045'682);
}

TEST_F(ImportContextTest, ASuspendedRunIsAnsweredHere) {
  bring(source_);
  const Run run = a().get(run_id(2));
  EXPECT_EQ(run.lifecycle, RunLifecycle::suspended);
  EXPECT_EQ(run.reason_code, RunReason::decision_required);
  EXPECT_EQ(run.reason_detail, R"({"question": "Which branch?"})");
  const auto suspension = a().latest_suspension(run.id);
  ASSERT_TRUE(suspension);
  EXPECT_EQ(suspension->sequence, 2);
  EXPECT_EQ(suspension->prompt, "Which branch?");
  EXPECT_EQ(suspension->assistant_message, R"({"role":"assistant","content":"Which branch?"})");
  EXPECT_EQ(suspension->suspended_at, 1'767'323'045'682);
  now_ = 1'767'323'050'000;
  const Run going = a().continue_suspended(
      run.id, {.expected_sequence = 2, .suspension_sequence = 2, .input = "main"});
  EXPECT_EQ(going.lifecycle, RunLifecycle::active);
  a().accounts().request_model(run.id);
  a().accounts().record_response(run.id, TokenUsage{1, 2, 3}, "{}");
  EXPECT_EQ(a().get(run.id).usage.total_tokens, 3);
  expect_all_sound();
}

TEST_F(ImportContextTest, ATreeKeepsItsLineageAndItsCalls) {
  bring(source_);
  EXPECT_EQ(a().get(run_id(3)).lifecycle, RunLifecycle::active);
  const Run parent = b().get(run_id(4)), child = b().get(run_id(5));
  EXPECT_EQ(parent.lifecycle, RunLifecycle::active);
  EXPECT_EQ(parent.usage.tool_calls, 1);
  EXPECT_EQ(b().calls().get(parent.id, CallId("call-d")).status, CallStatus::started);
  EXPECT_EQ(child.lineage, (RunLineage{.root_run_id = parent.id,
                                       .parent_run_id = parent.id,
                                       .parent_call_id = CallId("call-d"),
                                       .depth = 1}));
  EXPECT_EQ(child.outcome, RunOutcome::cancelled);
  EXPECT_EQ(child.reason_code, RunReason::ancestor_cancelled);
  EXPECT_EQ(b().audit().delegation(parent.id).at(0).child_run_id, child.id);
}

TEST_F(ImportContextTest, ASourceThatGrewBringsItsNewEvents) {
  const auto file = copy();
  bring(file);
  {
    const auto connection = open_sqlite(file);
    sql(connection.get(), R"sql(
      INSERT INTO agent_events VALUES
        ('00000000-0000-4000-8000-000000000003', 2, 1767323045700, 'model.requested', '{}'),
        ('00000000-0000-4000-8000-000000000003', 3, 1767323045701, 'model.responded', '{}'),
        ('00000000-0000-4000-8000-000000000003', 4, 1767323045702, 'checkpoint.created',
         '{"schema_version":1,"turn":1}'),
        ('00000000-0000-4000-8000-000000000003', 5, 1767323045703, 'run.completed',
         '{"lifecycle":"terminal","outcome":"completed","reason_code":"final_response"}');
      INSERT INTO agent_checkpoints VALUES
        ('00000000-0000-4000-8000-000000000003', 4, 1, 1, 1767323045702, '[1]');
      UPDATE agent_runs SET status = 'completed', lifecycle = 'terminal', outcome = 'completed',
        reason_code = 'final_response', reason_detail = '{}', output = 'late', last_sequence = 5,
        completed_at = 1767323045703, updated_at = 1767323045703,
        usage = '{"model_turns":1,"input_tokens":7,"output_tokens":8,"total_tokens":15,
                  "responses_with_usage":1,"responses_without_usage":0,"tool_calls":0}'
        WHERE id = '00000000-0000-4000-8000-000000000003')sql");
  }
  const ImportRunsReport report = bring(file);
  EXPECT_THAT(report.not_understood, IsEmpty());
  EXPECT_EQ(report.imported, (ImportedRuns{.grown = 1, .events = 4, .checkpoints = 1}));
  EXPECT_EQ(report.already_present, 4);
  const Run run = a().get(run_id(3));
  EXPECT_EQ(run.outcome, RunOutcome::completed);
  EXPECT_EQ(run.output, "late");
  EXPECT_EQ(run.last_sequence, 5);
  EXPECT_EQ(run.usage.total_tokens, 15);
  EXPECT_EQ(a().checkpoints().latest(run.id)->state, "[1]");
  expect_all_sound();
  EXPECT_EQ(bring(file).imported, ImportedRuns{});
}

TEST_F(ImportContextTest, ARunThatWentOnHereIsLeftAlone) {
  const auto file = copy();
  bring(file);
  a().log().append(run_id(3), "note.here", "{}");
  EXPECT_EQ(bring(file).already_present, 4);
  EXPECT_EQ(a().log().list(run_id(3)).back().event_type, "note.here");
  EXPECT_EQ(bring(file).not_understood.at(0).where, "run " + run_id(3).str());
}

TEST_F(ImportContextTest, TheFirstLayoutHadAStatusAlone) {
  const auto file = directory_ / "legacy.db";
  {
    const auto connection = open_sqlite(file);
    sql(connection.get(), R"sql(
      CREATE TABLE agent_runs (id TEXT PRIMARY KEY, workspace_id TEXT, agent_name TEXT,
        agent_version TEXT, model TEXT, status TEXT, created_at INTEGER, updated_at INTEGER,
        completed_at INTEGER, input TEXT, output TEXT, error TEXT, last_sequence INTEGER);
      CREATE TABLE agent_events (run_id TEXT, sequence INTEGER, timestamp INTEGER, event_type TEXT,
        payload TEXT);
      INSERT INTO agent_runs VALUES
        ('l-1', 'ws-a', 'a', '1', 'm', 'running', 1, 2, NULL, 'in', NULL, NULL, 1),
        ('l-2', 'ws-a', 'a', '1', 'm', 'completed', 1, 2, 2, 'in', 'out', NULL, 1),
        ('l-3', 'ws-a', 'a', '1', 'm', 'failed', 1, 2, 2, 'in', NULL, 'broke', 1),
        ('l-4', 'ws-a', 'a', '1', 'm', 'cancelled', 1, 2, 2, 'in', NULL, NULL, 1);
      INSERT INTO agent_events SELECT id, 1, 1, 'run.started', '{}' FROM agent_runs)sql");
  }
  const ImportRunsReport report = bring(file);
  EXPECT_THAT(report.not_understood, IsEmpty());
  EXPECT_EQ(report.imported.runs, 4);
  EXPECT_EQ(a().get(RunId("l-1")).lifecycle, RunLifecycle::active);
  EXPECT_EQ(a().get(RunId("l-2")).reason_code, RunReason::legacy_completed);
  EXPECT_EQ(a().get(RunId("l-3")).reason_code, RunReason::legacy_failure);
  EXPECT_EQ(a().get(RunId("l-3")).error, "broke");
  EXPECT_EQ(a().get(RunId("l-4")).reason_code, RunReason::legacy_cancelled);
  EXPECT_EQ(a().get(RunId("l-4")).reason_detail, "{}");
  EXPECT_EQ(a().get(RunId("l-2")).usage, RunUsage{});
  expect_all_sound();
}

TEST_F(ImportContextTest, WhatIsDamagedIsTakenAsFarAsItGoes) {
  const auto file = copy();
  {
    const auto connection = open_sqlite(file);
    sql(connection.get(), R"sql(
      DELETE FROM agent_events WHERE run_id LIKE '%1' AND sequence = 3;
      UPDATE tool_invocations SET result = 'no json', status = 'odd' WHERE call_id = 'c1';
      UPDATE agent_run_lineage SET parent_run_id = 'gone' WHERE run_id LIKE '%5';
      CREATE TABLE agent_tasks (id TEXT);
      ALTER TABLE agent_runs ADD COLUMN mood TEXT)sql");
  }
  const ImportRunsReport report = bring(file);
  EXPECT_EQ(report.imported.runs, 5);
  std::vector<std::string> where;
  for (const NotUnderstood& one : report.not_understood) where.push_back(one.where);
  const std::string first = "run " + run_id(1).str();
  EXPECT_THAT(where, testing::UnorderedElementsAre("table agent_runs", "table agent_tasks", first,
                                                   first + ", call c1", first + ", call c1",
                                                   "run " + run_id(5).str()));
  EXPECT_EQ(a().log().list(run_id(1)).at(2).event_type, "imported.missing");
  EXPECT_EQ(a().calls().get(run_id(1), CallId("c1")).result, R"("no json")");
  EXPECT_EQ(b().get(run_id(5)).lineage.parent_run_id, std::nullopt);
  expect_all_sound();
}

}  // namespace
}  // namespace threadstore::test
