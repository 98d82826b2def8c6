// What an operation costs must not depend on how much there is: the statements are counted and
// their plans read, whatever the machine's speed.
#include <set>

#include "tests/state/db/sqlite_connection.h"
#include "tests/state/db/statement_log.h"
#include "tests/state/runs/run_fixture.h"

namespace threadstore::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// Before the store is opened, and so a base class.
struct WatchedStatements {
  WatchedStatements() { StatementLog::watch(); }
};

class RunPlansTest : private WatchedStatements, public RunFileFixture {
 protected:
  static std::vector<std::string> statements_of(const std::function<void()>& operation) {
    StatementLog::take();
    operation();
    return StatementLog::take();
  }

  std::vector<std::string> plan(const std::string& statement) const {
    return plan_of(connection_.get(), statement);
  }

  void artifact(const RunId& run, int number) {
    runs_.artifacts().record(run, {"out/" + std::to_string(number), std::string(64, '0'), 1});
  }

  /// Calls of every kind, artifacts, checkpoints, children, a suspension.
  void fill(const RunId& run, int amount) {
    store_.transaction([&] {
      for (int i = 0; i < amount; ++i) {
        const std::string call = "call" + std::to_string(i);
        runs_.calls().request(run, {CallId(call), "sh"});
        runs_.calls().request_approval(run, CallId(call), {Capability::network});
        runs_.calls().decide(run, CallId(call),
                             {.decision = ApprovalDecision::granted, .decided_by = "ann"});
        runs_.calls().start(run, CallId(call));
        runs_.calls().finish(run, CallId(call), CallOutcome::completed("1"));
        artifact(run, i);
        runs_.checkpoints().save(run, {.turn = i, .keep_last = 100});
        runs_.log().append(run, "note.x");
        delegate(run, "agent" + std::to_string(i));
      }
    });
  }

  /// What sorts or reads as many rows as it gives back, or is about rows of which there are few.
  static bool is_allowed(const std::string& sql, const std::string& step) {
    const auto in_sql = [&](const char* text) { return sql.find(text) != std::string::npos; };
    return in_sql("below") ||                       // the active runs below
           in_sql("r.trigger_message_id = ?3") ||   // the turns of one message
           in_sql("SELECT thread_id, up_to_id") ||  // unfinished removals
           in_sql("max(gid)") ||                    // one look at the end of a key
           step.find("USING INDEX run_approvals_pending") != std::string::npos;  // undecided ones
  }

  const db::ConnectionHandle connection_ = open_sqlite(file_);
};

TEST_F(RunPlansTest, GettingARunIsOneStatementHoweverMuchItHolds) {
  const RunId small = start().id;
  const RunId large = start().id;
  fill(large, 30);
  const auto get = [&](const RunId& run) { return statements_of([&] { runs_.get(run); }); };
  get(small);  // the reader is opened
  EXPECT_EQ(get(large), get(small));
  std::size_t about_runs = 0;
  for (const std::string& sql : get(large)) about_runs += sql.find("FROM runs") != sql.npos;
  EXPECT_EQ(about_runs, 1U);
  // A read that only needs to know that the run is there does not classify it.
  for (const std::string& sql : statements_of([&] { runs_.log().list(large, 10, 1); })) {
    EXPECT_THAT(sql, Not(HasSubstr("run_calls"))) << sql;
  }
}

TEST_F(RunPlansTest, AListIsOneStatementHoweverManyRuns) {
  start();
  const auto list = [&] { return statements_of([&] { runs_.list({.limit = 1000}); }); };
  list();
  const auto one = list();
  store_.transaction([&] {
    for (int i = 0; i < 200; ++i) start();
  });
  fill(start().id, 5);
  EXPECT_EQ(runs_.list({.limit = 1000}).items.size(), 207U);
  EXPECT_EQ(list(), one);
}

TEST_F(RunPlansTest, AnAppendRunsTheSameStatementsHoweverManyArtifactsThereAre) {
  const RunId run = start().id;
  const auto append = [&] { return statements_of([&] { runs_.log().append(run, "note.x"); }); };
  append();
  const auto before = append();
  fill(run, 50);
  EXPECT_EQ(append(), before);
  for (const std::string& sql : append()) EXPECT_THAT(sql, Not(HasSubstr("run_artifacts")));
}

TEST_F(RunPlansTest, NoOperationReadsALogOrATableWhole) {
  const ThreadId thread = store_.threads().create({}).thread.id;
  const RunId run = start({.max_turns = 99, .max_total_tokens = 999, .max_tool_calls = 99}).id;
  StatementLog::take();
  fill(run, 2);
  runs_.accounts().request_model(run);
  runs_.accounts().record_response(run, TokenUsage{1, 1, 2});
  runs_.steps().record(run, {.step = 1});
  runs_.steps().commit(run, {.step = 1});
  const auto request = runs_.requests().put(run, {.step = 2, .act = "exec", .target = "x"});
  runs_.requests().pending();
  runs_.requests().pending(run);
  runs_.requests().decide(request.request_id, {.decided_by = "ann"});
  runs_.requests().list(run);
  runs_.tree().spawn({.parent = run, .step = 2, .goal = "g"});
  runs_.tree().spawns(run);
  runs_.tree().usage(run);
  runs_.audit().record(run, PolicyEvent::refused(1, "exec", "rm"));
  runs_.audit().policy(run);
  runs_.audit().steps(run);
  runs_.calls().list(run);
  runs_.calls().approvals(run);
  runs_.calls().pending_approvals();
  runs_.checkpoints().latest(run);
  runs_.checkpoints().list(run);
  runs_.artifacts().list(run);
  runs_.projections().working_state(run);
  runs_.projections().verify(run);
  runs_.log().list(run, 3);
  runs_.log().list_of_type(run, "tool.");
  runs_.log().since(5);
  runs_.list({.lifecycle = RunLifecycle::active, .agent_name = "coder"});
  runs_.list({.thread = thread});
  runs_.children(run);
  runs_.latest_suspension(run);
  started_call(run, "left");
  runs_.take_over(run, "rescuer");
  runs_.answer_effect(
      run, {.call = CallId("left"), .kind = EffectAnswer::Kind::completed, .answered_by = "ann"});
  runs_.steps().resume(run);
  runs_.finish(run, RunEnd::failed("x"));
  const Turn turn =
      runs_.turns().begin({.thread = thread,
                           .message = {.role = "user", .content = "q"},
                           .run = {.agent_name = "a", .agent_version = "1", .model = "m"}});
  runs_.turns().list(thread, turn.message.id);
  runs_.detach(thread);
  const auto all = StatementLog::take();
  int examined = 0;
  for (const std::string& sql : std::set<std::string>(all.begin(), all.end())) {
    if (sql.find("run") == sql.npos) continue;
    ++examined;
    for (const std::string& step : plan(sql)) {
      if (is_allowed(sql, step)) continue;
      EXPECT_THAT(step, Not(StartsWith("SCAN"))) << sql;
      EXPECT_THAT(step, Not(HasSubstr("TEMP B-TREE"))) << sql;
      EXPECT_THAT(step, Not(StartsWith("no plan"))) << sql;
    }
  }
  EXPECT_GE(examined, 60);
}

TEST_F(RunPlansTest, AnApprovalAndAnArtifactAreFoundByTheirKeys) {
  const RunId run = start().id;
  runs_.calls().request(run, {CallId("c"), "sh"});
  const auto used = [&](const std::function<void()>& operation, const std::string& table) {
    std::string steps;
    for (const std::string& sql : statements_of(operation)) {
      if (!sql.starts_with("SELECT") && !sql.starts_with("\n  SELECT")) continue;
      if (sql.find(table) == sql.npos) continue;
      for (const std::string& step : plan(sql)) steps += step + "; ";
    }
    return steps;
  };
  EXPECT_THAT(used([&] { runs_.calls().start(run, CallId("c")); }, "run_approvals"),
              HasSubstr("run_approvals_1 (run_id=? AND call_id=?)"));
  EXPECT_THAT(used([&] { artifact(run, 1); }, "run_artifacts WHERE run_id = ? AND relative_path"),
              HasSubstr("run_artifacts_1 (run_id=? AND relative_path=?)"));
}

}  // namespace
}  // namespace threadstore::test
