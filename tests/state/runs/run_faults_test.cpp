// Every operation against a failure at its first, second, … last row that it writes: nothing of it
// may be visible, no sequence used up, and the same call must work when the failure is gone.
#include "tests/state/db/sqlite_connection.h"
#include "tests/state/runs/run_fixture.h"

namespace threadstore::test {
namespace {

constexpr const char* kTables[] = {"runs",          "run_events",        "run_calls",
                                   "run_approvals", "run_checkpoints",   "run_suspensions",
                                   "run_artifacts", "run_working_state", "leases",
                                   "messages",      "threads",           "thread_goals",
                                   "run_steps",     "run_spawns"};

class RunFaultsTest : public RunFileFixture {
 protected:
  RunFaultsTest() {
    sql(connection_.get(), "CREATE TABLE fault (left INTEGER); INSERT INTO fault VALUES (1000000)");
    for (const std::string table : kTables) {
      for (const std::string verb : {"INSERT", "UPDATE", "DELETE"}) {
        sql(connection_.get(), "CREATE TRIGGER fault_" + table + "_" + verb + " BEFORE " + verb +
                                   " ON " + table +
                                   " BEGIN UPDATE fault SET left = left - 1;"
                                   " SELECT RAISE(ABORT, 'injected')"
                                   " WHERE (SELECT left FROM fault) < 0; END");
      }
    }
  }

  /// Everything that the tables hold.
  std::string contents() const {
    std::string all;
    const auto keep = [](void* out, int count, char** columns, char**) {
      for (int i = 0; i < count; ++i) {
        *static_cast<std::string*>(out) += (columns[i] != nullptr ? columns[i] : "null");
        *static_cast<std::string*>(out) += '|';
      }
      return 0;
    };
    for (const std::string table : kTables) {
      all += table + '\n';
      sqlite3_exec(connection_.get(), ("SELECT * FROM " + table).c_str(), keep, &all, nullptr);
    }
    return all;
  }

  /// How many failures it took until the operation had its way.
  int survive(const std::function<void()>& operation) {
    const std::string before = contents();
    for (int allowed = 0; allowed < 200; ++allowed) {
      sql(connection_.get(), "UPDATE fault SET left = " + std::to_string(allowed));
      const auto error = error_of(operation);
      sql(connection_.get(), "UPDATE fault SET left = 1000000");
      if (!error) return allowed;
      EXPECT_EQ(contents(), before) << "after " << allowed << " rows";
    }
    ADD_FAILURE() << "never had its way";
    return 0;
  }

  const db::ConnectionHandle connection_ = open_sqlite(file_);
};

TEST_F(RunFaultsTest, OperationsOnOneRunAreAllOrNothing) {
  RunId run;
  EXPECT_GE(survive([&] { run = start({.max_turns = 9}).id; }), 3);
  const CallId c("c");
  EXPECT_GE(survive([&] { runs_.log().append(run, "note.x"); }), 3);
  EXPECT_GE(survive([&] { runs_.accounts().request_model(run); }), 4);
  EXPECT_GE(survive([&] { runs_.accounts().record_response(run, TokenUsage{1, 1, 2}); }), 4);
  EXPECT_GE(survive([&] { runs_.calls().request(run, {c, "sh"}); }), 4);
  EXPECT_GE(survive([&] { runs_.calls().request_approval(run, c, {Capability::network}); }), 4);
  EXPECT_GE(survive([&] {
              runs_.calls().decide(run, c,
                                   {.decision = ApprovalDecision::granted, .decided_by = "ann"});
            }),
            4);
  EXPECT_GE(survive([&] { runs_.calls().start(run, c); }), 5);
  EXPECT_GE(survive([&] { runs_.calls().finish(run, c, CallOutcome::completed("1")); }), 5);
  EXPECT_GE(survive([&] { runs_.checkpoints().save(run, {}); }), 4);
  EXPECT_GE(survive([&] { runs_.artifacts().record(run, {"a", std::string(64, '0'), 1}); }), 5);
  EXPECT_GE(survive([&] { runs_.projections().rebuild_working_state(run); }), 1);
  EXPECT_GE(survive([&] { runs_.accounts().raise(run, {.max_turns = 10}); }), 5);
  EXPECT_GE(survive([&] {
              runs_.finish(run, RunEnd::needs_user_input(RunReason::decision_required, "?"));
            }),
            5);
  const Run waiting = runs_.get(run);
  EXPECT_GE(survive([&] {
              runs_.continue_suspended(run, {.expected_sequence = waiting.last_sequence,
                                             .suspension_sequence = waiting.last_sequence,
                                             .input = "go",
                                             .checkpoint = NewRunCheckpoint{}});
            }),
            9);
  EXPECT_GE(survive([&] { runs_.finish(run, RunEnd::failed("x")); }), 4);
  EXPECT_GE(survive([&] { runs_.reopen(run, runs_.get(run).last_sequence); }), 4);
  EXPECT_GE(
      survive([&] { runs_.finish(run, RunEnd::blocked(RunReason::policy_restriction, "p")); }), 5);
  EXPECT_GE(survive([&] { runs_.abandon(run); }), 4);
  expect_sound(run);
}

TEST_F(RunFaultsTest, OperationsOnATreeAreAllOrNothing) {
  const RunId root = start().id;
  started_call(root, "c", "agent.invoke");
  RunId child;
  EXPECT_GE(
      survive([&] {
        child = runs_
                    .create_child({.parent = root,
                                   .call = CallId("c"),
                                   .run = {.agent_name = "h", .agent_version = "1", .model = "m"}})
                    .id;
      }),
      6);
  EXPECT_GE(survive([&] { runs_.accounts().request_model(child); }), 6);
  started_call(child, "s");
  EXPECT_GE(survive([&] { runs_.finish(root, RunEnd::cancelled()); }), 15);
  expect_sound(root);
  expect_sound(child);
}

TEST_F(RunFaultsTest, StepsRequestsAndSpawnsAreAllOrNothing) {
  const RunId run = start().id;
  // Sums of the run, the sequence, the event, its working state, and the step itself.
  EXPECT_GE(survive([&] { runs_.steps().record(run, {.step = 1, .tokens = 1}); }), 5);
  EXPECT_GE(survive([&] { runs_.steps().commit(run, {.step = 1, .tokens = 2}); }), 5);
  RequestId request{};
  EXPECT_GE(
      survive([&] {
        request =
            runs_.requests().put(run, {.step = 2, .act = "exec", .target = "make"}).request_id;
      }),
      4);
  EXPECT_GE(survive([&] {
              runs_.requests().decide(request,
                                      {.decision = ApprovalDecision::denied, .decided_by = "ann"});
            }),
            4);
  RunId child;
  EXPECT_GE(survive([&] {
              child = runs_.tree().spawn({.parent = run, .step = 2, .goal = "a part"}).child.id;
            }),
            8);
  // The sum of the run above changes with the step of the one below.
  EXPECT_GE(survive([&] { runs_.steps().commit(child, {.step = 1, .tokens = 4}); }), 6);
  runs_.requests().put(child, {.step = 2, .act = "exec", .target = "make"});
  EXPECT_GE(survive([&] { runs_.trace().finish_run(run, "awaiting_approval"); }), 12);
  EXPECT_GE(survive([&] { runs_.steps().resume(run); }), 8);
  EXPECT_GE(survive([&] { runs_.set_provider(run, "p"); }), 4);
  EXPECT_EQ(runs_.steps().spent_tokens_tree(run), 7);
  expect_sound(run);
  expect_sound(child);
}

TEST_F(RunFaultsTest, TurnsAndTakeOversAreAllOrNothing) {
  const ThreadId thread = store_.threads().create({}).thread.id;
  store_.goals().set(thread, {.objective = "ship", .token_budget = 100});
  std::optional<Turn> turn;
  EXPECT_GE(survive([&] {
              turn.emplace(runs_.turns().begin(
                  {.thread = thread,
                   .message = {.role = "user", .content = "why?"},
                   .run = {.agent_name = "a", .agent_version = "1", .model = "m"},
                   .program = "chat"}));
            }),
            6);
  const RunId run = turn->run.id;
  EXPECT_GE(survive([&] { runs_.accounts().record_response(run, TokenUsage{1, 1, 2}); }), 5);
  started_call(run, "c");
  std::optional<HeldRun> held;
  EXPECT_GE(survive([&] { held.emplace(runs_.take_over(run, "rescuer")); }), 12);
  EXPECT_GE(survive([&] {
              runs_.answer_effect(run, {.call = CallId("c"),
                                        .kind = EffectAnswer::Kind::completed,
                                        .answered_by = "ann"});
            }),
            9);
  EXPECT_GE(survive([&] {
              runs_.turns().finish(run, {.end = RunEnd::completed("x"),
                                         .reply = {{.role = "assistant", .content = "x"}}});
            }),
            8);
  expect_sound(run);
}

}  // namespace
}  // namespace threadstore::test
