#include "tests/exchange/import_runs_fixture.h"

namespace threadstore::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using ImportRunsAgainTest = ImportRunsTest;

TEST_F(ImportRunsAgainTest, ASourceThatGrewBringsOnlyWhatIsNew) {
  const Path file = copy_of(release("0.7"));
  bring(file);
  const std::int64_t before = runs_.log().newest_gid();
  change(file, R"sql(
    INSERT INTO steps(run_id, step, decision, result, tokens) VALUES (10, 4, 'd4', 'r4', 40);
    INSERT INTO checkpoint_events(run_id, step, kind) VALUES (10, 4, 'checkpoint');
    INSERT INTO policy_events(run_id, step, kind, act, target)
      VALUES (10, 4, 'refusal', 'exec', 'rm');
    UPDATE runs SET outcome = 'success', status = 'completed' WHERE id = 10;
    UPDATE pending_approvals SET resolved = 'approve' WHERE id = 1;
    INSERT INTO checkpoint_events(run_id, step, kind, detail) VALUES (2, 4, 'resume', 'again');
    INSERT INTO checkpoint_events(run_id, step, kind) VALUES (2, 1, 'skipped');
    INSERT INTO steps(run_id, step, decision, result, tokens) VALUES (2, 4, 'd4', 'r4', 40);
    INSERT INTO checkpoint_events(run_id, step, kind) VALUES (2, 4, 'checkpoint');
    UPDATE runs SET outcome = 'success', status = 'completed' WHERE id = 2;
    INSERT INTO runs(goal, file, parent_run_id, depth, status, started_at)
      VALUES ('late', 'f', 11, 2, 'running', '2026-01-02T03:04:06Z');)sql");
  const ImportRunsReport expected = bring(file, /*dry_run=*/true);
  EXPECT_EQ(runs_.log().newest_gid(), before);
  const ImportRunsReport report = bring(file);
  EXPECT_THAT(report.not_understood, IsEmpty());
  EXPECT_EQ(report.imported.runs, 1);
  EXPECT_EQ(report.imported.grown, 2);
  EXPECT_EQ(report.imported.steps, 2);
  EXPECT_EQ(expected.imported.runs, report.imported.runs);
  EXPECT_EQ(expected.imported.grown, report.imported.grown);
  EXPECT_EQ(expected.imported.steps, report.imported.steps);
  EXPECT_EQ(report.already_present, 9);
  const Run ten = imported(10), two = imported(2), late = imported(12);
  EXPECT_EQ(ten.outcome, RunOutcome::completed);
  EXPECT_EQ(runs_.steps().last_committed(ten.id), 4);
  EXPECT_THAT(runs_.audit().policy(ten.id), SizeIs(1));
  EXPECT_EQ(two.outcome_text, "success");
  EXPECT_EQ(runs_.requests().list(two.id).at(0).decision, ApprovalDecision::granted);
  const auto marks = runs_.audit().steps(two.id);
  EXPECT_EQ(std::count_if(marks.begin(), marks.end(),
                          [](const StepEvent& mark) { return mark.kind == StepKind::resume; }),
            1);
  EXPECT_EQ(late.lineage.depth, 2);
  EXPECT_EQ(late.created_at, kStart + 322);
  expect_all_sound();
  expect_nothing_new(file, 12);
}

TEST_F(ImportRunsAgainTest, ARunThatWentOnHereIsLeftAlone) {
  const Path file = copy_of(release("0.7"));
  bring(file);
  runs_.steps().commit(imported(10).id, {.step = 4, .decision = "here"});
  EXPECT_EQ(bring(file).already_present, 11);
  change(file,
         "INSERT INTO steps(run_id, step, decision, result) VALUES (10, 4, 'there', 'r');"
         "INSERT INTO steps(run_id, step, decision, result) VALUES (10, 5, 'there', 'r')");
  const ImportRunsReport report = bring(file);
  ASSERT_THAT(report.not_understood, SizeIs(1));
  EXPECT_EQ(report.not_understood[0].where, "run 10");
  EXPECT_EQ(steps(imported(10).id).back().decision, "here");
  EXPECT_EQ(report.imported.steps, 0);
}

TEST_F(ImportRunsAgainTest, ASourceIsTheSameWhereverItLiesWhenItsFirstRunHasAStart) {
  bring(copy_of(release("0.7"), "one.db"));
  const Path moved = copy_of(release("0.7"), "two.db");
  expect_nothing_new(moved, 11);
  // The same first run without a start may be any run.
  bring(copy_of(release("0.1"), "three.db"));
  EXPECT_EQ(bring(copy_of(release("0.1"), "four.db")).imported.runs, 10);
}

TEST_F(ImportRunsAgainTest, ATreeThatContradictsItselfIsTakenAsFarAsItGoes) {
  const Path file = copy_of(release("0.7"));
  change(file, R"sql(
    UPDATE runs SET parent_run_id = 5 WHERE id = 4;
    UPDATE runs SET parent_run_id = 4 WHERE id = 5;
    UPDATE runs SET parent_run_id = 99 WHERE id = 6;
    INSERT INTO steps(run_id, step, decision, result) VALUES (77, 1, 'd', 'r');
    INSERT INTO policy_events(run_id, step, kind, act, target) VALUES (1, 3, 'novel', 'x', 'y');
    UPDATE spawns SET deny_write = 'no json';
    UPDATE pending_approvals SET resolved = 'perhaps' WHERE id = 1;
    UPDATE runs SET outcome = NULL, status = 'dancing' WHERE id = 7;
    CREATE TABLE novelty(a);
    ALTER TABLE runs ADD COLUMN mood TEXT;)sql");
  const ImportRunsReport report = bring(file);
  EXPECT_EQ(report.imported.runs, 11);
  std::vector<std::string> where;
  for (const NotUnderstood& one : report.not_understood) where.push_back(one.where);
  EXPECT_THAT(where, testing::UnorderedElementsAre(
                         "table runs", "table novelty", "table steps", "run 5", "run 6", "run 7",
                         "run 1, policy event 3", "run 11, spawn 1", "run 2, pending approval 1"));
  EXPECT_THAT(types(imported(1).id), Contains("imported.policy"));
  EXPECT_EQ(imported(4).lineage.parent_run_id, imported(5).id);
  EXPECT_EQ(imported(7).lifecycle, RunLifecycle::active);
  expect_all_sound();
  EXPECT_EQ(bring(file).imported, ImportedRuns{});
}

TEST_F(ImportRunsAgainTest, ANewerFormatIsRefusedWithBothNumbers) {
  const Path file = release("newer-8");
  const std::string before = base::sha256_of_file(file);
  try {
    bring(file);
    ADD_FAILURE() << "it was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::newer_format);
    EXPECT_THAT(error.what(), HasSubstr("format 8"));
    EXPECT_THAT(error.what(), HasSubstr("up to 7"));
    EXPECT_EQ(error.details(), (nlohmann::json{{"format", 8}, {"supported", 7}}));
  }
  EXPECT_THAT(runs_.list().items, IsEmpty());
  EXPECT_EQ(base::sha256_of_file(file), before);
}

TEST_F(ImportRunsAgainTest, WhatIsNeitherStoreIsRefusedWithWhatItLooksLike) {
  const auto refusal = [&](const Path& file) -> std::string {
    try {
      bring(file);
    } catch (const Error& error) {
      return std::string(to_string(error.code())) + ": " + error.what();
    }
    return "taken";
  };
  write_file(directory_ / "text", "hello");
  write_file(directory_ / "empty", "");
  EXPECT_THAT(refusal(directory_ / "text"), HasSubstr("it is no SQLite database"));
  EXPECT_THAT(refusal(directory_ / "empty"), HasSubstr("it is empty"));
  EXPECT_THAT(refusal(copy_of(fixture("peers") / "opencode" / "opencode.db")),
              HasSubstr("looks like an opencode database"));
  EXPECT_THAT(refusal(directory_ / "gone"), testing::StartsWith("not_found"));
  EXPECT_THAT(refusal(directory_.path()), testing::StartsWith("invalid_argument"));
  const Path other = directory_ / "other.db";
  change(other, "CREATE TABLE a(x); CREATE TABLE b(x)");
  EXPECT_THAT(refusal(other), HasSubstr("invalid_argument"));
  EXPECT_THAT(refusal(other), HasSubstr("with the tables a, b"));
}

TEST_F(ImportRunsAgainTest, NothingBesideTheSourceChangesEitherWithAJournal) {
  const Path file = copy_of(release("0.7"), "wal.db");
  const Path wal = directory_ / "wal.db-wal";
  const auto writer = open_sqlite(file);
  ASSERT_EQ(
      sqlite3_exec(writer.get(),
                   "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;"
                   "INSERT INTO steps(run_id, step, decision, result) VALUES (10, 4, 'w', 'r')",
                   nullptr, nullptr, nullptr),
      SQLITE_OK);
  const std::string main_bytes = base::sha256_of_file(file), wal_bytes = base::sha256_of_file(wal);
  bring(file);
  EXPECT_EQ(steps(imported(10).id).back().decision, "w");
  EXPECT_EQ(base::sha256_of_file(file), main_bytes);
  EXPECT_EQ(base::sha256_of_file(wal), wal_bytes);
  // A writer that died left its journal behind.
  const Path dead = directory_ / "dead.db";
  std::filesystem::copy_file(file, dead);
  std::filesystem::copy_file(wal, directory_ / "dead.db-wal");
  expect_nothing_new(dead, 11);
  EXPECT_EQ(base::sha256_of_file(dead), main_bytes);
  EXPECT_EQ(base::sha256_of_file(directory_ / "dead.db-wal"), wal_bytes);
}

TEST_F(ImportRunsAgainTest, ADryRunWritesNothingAndSaysWhatWouldCome) {
  for (const std::string number : kReleases) {
    const ImportRunsReport said = bring(release(number), /*dry_run=*/true);
    EXPECT_EQ(runs_.log().newest_gid(), 0);
    const StateStore store = StateStore::in_memory(options());
    EXPECT_EQ(import_runs(store, release(number), {.workspace = "/w"}).imported, said.imported)
        << number;
  }
  const auto said = bring(fixture("context-harness") / "app.db", /*dry_run=*/true);
  EXPECT_EQ(runs_.log().newest_gid(), 0);
  EXPECT_EQ(bring(fixture("context-harness") / "app.db").imported, said.imported);
}

TEST_F(ImportRunsAgainTest, AnImportThatWasStoppedGoesOnTheNextTime) {
  const auto stop = [](std::int64_t done, std::int64_t) {
    if (done == 5) throw std::runtime_error("stopped");
  };
  EXPECT_THROW(import_runs(store_, release("0.7"), {.workspace = "/work", .progress = stop}),
               std::runtime_error);
  EXPECT_THAT(runs_.list({.limit = 100}).items, SizeIs(5));
  const ImportRunsReport report = bring(release("0.7"));
  EXPECT_EQ(report.imported.runs, 6);
  EXPECT_EQ(report.already_present, 5);
  EXPECT_THAT(report.not_understood, IsEmpty());
  EXPECT_EQ(imported(11).lineage.parent_run_id, imported(1).id);
  expect_all_sound();
}

TEST_F(ImportRunsAgainTest, ProgressGoesUpToTheEnd) {
  std::vector<std::int64_t> done;
  import_runs(store_, release("0.7"),
              {.workspace = "/work", .progress = [&](std::int64_t count, std::int64_t total) {
                 EXPECT_EQ(total, 11);
                 done.push_back(count);
               }});
  EXPECT_THAT(done, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
}

}  // namespace
}  // namespace threadstore::test
