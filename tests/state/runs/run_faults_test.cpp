// Every operation of the public run API that writes, against failures. The last test finds what was
// forgotten.
#include "tests/state/runs/run_faults.h"

#include <filesystem>
#include <regex>
#include <set>

#include "tests/state/runs/run_api.h"
#include "tests/support/temp_dir.h"

namespace threadstore::test {
namespace {

class RunFaultsTest : public RunFaultsFixture {
 protected:
  /// A run with a call that waits for an approval, and one that runs when asked for.
  RunId busy_run(bool with_running_call) {
    const RunId run = start().id;
    runs_.calls().request(run, {CallId("asked"), "sh"});
    runs_.calls().request_approval(run, CallId("asked"), {Capability::network});
    if (with_running_call) started_call(run, "ran");
    return run;
  }
};

TEST_F(RunFaultsTest, FromTheStartOfARunToItsEnd) {
  RunId run;
  survive("Runs::create", 3, [&] { run = start({.max_turns = 9}).id; });
  const CallId c("c");
  survive("RunLog::append", 3, [&] { runs_.log().append(run, "note.x"); });
  survive("RunAccounts::request_model", 4, [&] { runs_.accounts().request_model(run); });
  survive("RunAccounts::record_response", 4, [&] {
    runs_.accounts().record_response(run, TokenUsage{1, 1, 2});
  });
  survive("RunCalls::request", 4, [&] { runs_.calls().request(run, {c, "sh"}); });
  survive("RunCalls::request_approval", 4,
          [&] { runs_.calls().request_approval(run, c, {Capability::network}); });
  survive("RunCalls::decide", 4, [&] {
    runs_.calls().decide(run, c, {.decision = ApprovalDecision::granted, .decided_by = "ann"});
  });
  survive("RunCalls::start", 5, [&] { runs_.calls().start(run, c); });
  survive("RunCalls::finish", 5,
          [&] { runs_.calls().finish(run, c, CallOutcome::completed("1")); });
  survive("RunCheckpoints::save", 4, [&] { runs_.checkpoints().save(run, {}); });
  survive("RunCheckpoints::save, named anew", 4,
          [&] { runs_.checkpoints().save(run, {.name = "n"}); });
  survive("RunCheckpoints::save, in the place of another", 5,
          [&] { runs_.checkpoints().save(run, {.name = "n", .keep_last = 1}); });
  survive("RunCheckpoints::save, older ones go", 5,
          [&] { runs_.checkpoints().save(run, {.keep_last = 1}); });
  survive("RunArtifacts::record", 5, [&] {
    runs_.artifacts().record(run, {"a", std::string(64, '0'), 1});
  });
  survive("RunAccounts::raise", 5, [&] { runs_.accounts().raise(run, {.max_turns = 10}); });
  survive("Runs::set_provider", 4, [&] { runs_.set_provider(run, "p"); });
  survive("Runs::finish needs_user_input", 5,
          [&] { runs_.finish(run, RunEnd::needs_user_input(RunReason::decision_required, "?")); });
  const Run waiting = runs_.get(run);
  survive("Runs::continue_suspended", 9, [&] {
    runs_.continue_suspended(run, {.expected_sequence = waiting.last_sequence,
                                   .suspension_sequence = waiting.last_sequence,
                                   .input = "go",
                                   .checkpoint = NewRunCheckpoint{}});
  });
  survive("Runs::finish failed", 4, [&] { runs_.finish(run, RunEnd::failed("x")); });
  survive("Runs::reopen", 4, [&] { runs_.reopen(run, runs_.get(run).last_sequence); });
  survive("Runs::finish blocked", 5,
          [&] { runs_.finish(run, RunEnd::blocked(RunReason::policy_restriction, "p")); });
  survive("Runs::abandon", 4, [&] { runs_.abandon(run); });
  expect_sound(run);
}

TEST_F(RunFaultsTest, EveryEndOfARunThatIsBusy) {
  const std::vector<RunEnd> ends{RunEnd::failed("x", RunReason::tool_error, R"({"why":1})"),
                                 RunEnd::cancelled(), RunEnd::limit_exceeded(RunReason::duration),
                                 RunEnd::blocked(RunReason::external_dependency, "down"),
                                 RunEnd::needs_user_input(RunReason::information_required, "?")};
  for (const RunEnd& end : ends) {
    const RunId run = busy_run(true);
    // Two calls and an approval end with it.
    survive("Runs::finish", 18, [&] { runs_.finish(run, end); });
    expect_sound(run);
  }
  const RunId done = start().id;
  survive("Runs::finish completed", 4, [&] { runs_.finish(done, RunEnd::completed("x")); });
  const RunId waiting = busy_run(false);
  survive("Runs::finish approval_required", 5, [&] {
    runs_.finish(waiting, RunEnd::needs_user_input(RunReason::approval_required, "May I?"));
  });
  survive("Runs::abandon, with what waited", 12, [&] { runs_.abandon(waiting, "no"); });
  const RunId lost = busy_run(true);
  survive("Runs::finish effect_unknown", 8, [&] {
    runs_.finish(lost, RunEnd::blocked(RunReason::effect_unknown, "the connection broke"));
  });
  for (const RunId& run : {done, waiting, lost}) expect_sound(run);
}

TEST_F(RunFaultsTest, EveryEndOfACall) {
  const RunId run = start().id;
  const std::vector<CallOutcome> outcomes{CallOutcome::completed("[1]"), CallOutcome::failed("e"),
                                          CallOutcome::recoverable("x", "e", "{}", "t", "k"),
                                          CallOutcome::terminal("x", "e"),
                                          CallOutcome::uncertain("x", "e")};
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const CallId call = started_call(run, std::to_string(i));
    survive("RunCalls::finish", 5, [&] { runs_.calls().finish(run, call, outcomes[i]); });
  }
  const CallId asked("asked");
  runs_.calls().request(run, {asked, "sh"});
  runs_.calls().request_approval(run, asked, {Capability::network});
  survive("RunCalls::finish denied, with its request", 9,
          [&] { runs_.calls().finish(run, asked, CallOutcome::denied("no")); });
  expect_sound(run);
}

TEST_F(RunFaultsTest, TakeOversAndTheThreeAnswers) {
  using Kind = EffectAnswer::Kind;
  for (const Kind kind : {Kind::completed, Kind::retry, Kind::abort}) {
    const RunId run = start().id;
    started_call(run, "c");
    std::optional<HeldRun> held;
    survive("Runs::acquire", 10, [&] { held.emplace(runs_.acquire(run, "rescuer")); });
    survive("Runs::answer_effect", 9, [&] {
      runs_.answer_effect(run, {.call = CallId("c"), .kind = kind, .answered_by = "ann"});
    });
    expect_sound(run);
  }
  const RunId run = start().id;
  std::optional<HeldRun> first(runs_.acquire(run, "first"));
  started_call(run, "c");
  std::optional<HeldRun> second;
  survive("Runs::take_over", 12, [&] { second.emplace(runs_.take_over(run, "second")); });
  EXPECT_GT(second->lease.token().generation, first->lease.token().generation);
  expect_sound(run);
}

TEST_F(RunFaultsTest, Trees) {
  const RunId root = start().id;
  started_call(root, "c", "agent.invoke");
  RunId child;
  survive("Runs::create_child", 6, [&] {
    child = runs_
                .create_child({.parent = root,
                               .call = CallId("c"),
                               .run = {.agent_name = "h", .agent_version = "1", .model = "m"}})
                .id;
  });
  survive("RunAccounts::request_model, with who is above", 6,
          [&] { runs_.accounts().request_model(child); });
  RunId other;
  survive("RunTree::start_child", 3, [&] {
    other =
        runs_.tree().start_child(root, {.agent_name = "h", .agent_version = "1", .model = "m"}).id;
  });
  started_call(child, "s");
  survive("Runs::finish, with those below", 15, [&] { runs_.finish(root, RunEnd::cancelled()); });
  for (const RunId& run : {root, child, other}) expect_sound(run);
}

TEST_F(RunFaultsTest, StepsRequestsAndSpawns) {
  const RunId run = start().id;
  // Sums of the run, the sequence, the event, its working state, and the step itself.
  survive("RunSteps::record", 5, [&] { runs_.steps().record(run, {.step = 1, .tokens = 1}); });
  survive("RunSteps::commit", 5, [&] { runs_.steps().commit(run, {.step = 1, .tokens = 2}); });
  RequestId request{};
  survive("RunRequests::put", 4, [&] {
    request = runs_.requests().put(run, {.step = 2, .act = "exec", .target = "make"}).request_id;
  });
  survive("RunRequests::decide", 4, [&] {
    runs_.requests().decide(request, {.decision = ApprovalDecision::denied, .decided_by = "ann"});
  });
  RunId child;
  survive("RunTree::spawn", 8, [&] {
    child = runs_.tree().spawn({.parent = run, .step = 2, .goal = "a part"}).child.id;
  });
  // The sum of the run above changes with the step of the one below.
  survive("RunSteps::commit, below another run", 6,
          [&] { runs_.steps().commit(child, {.step = 1, .tokens = 4}); });
  runs_.requests().put(child, {.step = 2, .act = "exec", .target = "make"});
  survive("RunTrace::finish_run", 12, [&] { runs_.trace().finish_run(run, "awaiting_approval"); });
  survive("RunSteps::resume", 8, [&] { runs_.steps().resume(run); });
  EXPECT_EQ(runs_.steps().spent_tokens_tree(run), 7);
  expect_sound(run);
  expect_sound(child);
}

TEST_F(RunFaultsTest, AuditListsAndProjections) {
  const RunId run = start().id;
  RunAudit audit = runs_.audit();
  survive("RunAudit::record a refusal", 3,
          [&] { audit.record(run, PolicyEvent::refused(1, "exec", "rm")); });
  survive("RunAudit::record a draw", 3,
          [&] { audit.record(run, DelegationEvent::drawn(1, 5, 6)); });
  survive("RunAudit::record a sandbox", 3,
          [&] { audit.record(run, SandboxEvent{.step = 1, .kind = SandboxKind::exec}); });
  survive("RunProjections::rebuild_working_state", 1,
          [&] { runs_.projections().rebuild_working_state(run); });
  started_call(run, "c");
  runs_.artifacts().record(run, {"a", std::string(64, '0'), 1});
  runs_.steps().commit(run, {.step = 1});
  sql(connection_.get(),
      "DELETE FROM run_calls; DELETE FROM run_artifacts; DELETE FROM run_steps;"
      "UPDATE runs SET tool_calls = 9, artifact_count = 9");
  survive("RunProjections::rebuild", 6, [&] { runs_.projections().rebuild(run); });
  expect_sound(run);
}

TEST_F(RunFaultsTest, TurnsOfAThread) {
  const ThreadId thread = store_.threads().create({}).thread.id;
  store_.goals().set(thread, {.objective = "ship", .token_budget = 100});
  const NewRun run{.agent_name = "a", .agent_version = "1", .model = "m"};
  std::optional<Turn> turn;
  survive("Turns::begin", 6, [&] {
    turn.emplace(runs_.turns().begin({.thread = thread,
                                      .message = {.role = "user", .content = "why?"},
                                      .run = run,
                                      .program = "chat"}));
  });
  survive("RunAccounts::record_response, with the goal", 5, [&] {
    runs_.accounts().record_response(turn->run.id, TokenUsage{1, 1, 2});
  });
  survive("Turns::finish", 8, [&] {
    runs_.turns().finish(turn->run.id, {.end = RunEnd::completed("x"),
                                        .reply = {{.role = "assistant", .content = "x"}}});
  });
  std::optional<HeldRun> again;
  survive("Turns::begin_for", 4,
          [&] { again.emplace(runs_.turns().begin_for(thread, turn->message.id, run, "chat")); });
  const MessageId reply =
      store_.messages().append(thread, {.role = "assistant", .content = "y"}).id;
  survive("Turns::finish_with", 5,
          [&] { runs_.turns().finish_with(again->run.id, RunEnd::completed("y"), reply); });
  survive("Runs::detach", 2, [&] { runs_.detach(thread); });
  for (const RunId& id : {turn->run.id, again->run.id}) expect_sound(id);
}

TEST_F(RunFaultsTest, AsAStepTrace) {
  RunTrace trace = runs_.trace();
  RunId run;
  survive("RunTrace::start_run", 3, [&] { run = trace.start_run({.goal = "all"}); });
  RunId child;
  survive("RunTrace::start_child_run", 3,
          [&] { child = trace.start_child_run(run, {.goal = "part"}); });
  survive("RunTrace::set_provider", 4, [&] { trace.set_provider(run, "p"); });
  survive("RunTrace::record", 4, [&] { trace.record(run, {.step = 1}); });
  survive("RunTrace::checkpoint_step", 4, [&] { trace.checkpoint_step(run, {.step = 1}); });
  survive("RunTrace::record_event", 3,
          [&] { trace.record_event(run, PolicyEvent::refused(1, "exec", "rm")); });
  survive("RunTrace::record_agent_event", 3,
          [&] { trace.record_agent_event(run, DelegationEvent::drawn(1, 5, 6)); });
  survive("RunTrace::record_sandbox_event", 3,
          [&] { trace.record_sandbox_event(run, SandboxEvent{.step = 1}); });
  RequestId request{};
  survive("RunTrace::put_pending", 4,
          [&] { request = trace.put_pending(run, {.step = 2, .act = "exec", .target = "make"}); });
  survive("RunTrace::resolve_pending", 4, [&] {
    trace.resolve_pending(request, {.decision = ApprovalDecision::granted, .decided_by = "ann"});
  });
  survive("RunTrace::spawn_child", 8,
          [&] { trace.spawn_child({.parent = run, .step = 2, .goal = "a part"}); });
  survive("RunTrace::set_status", 5, [&] { trace.set_status(run, RunStatus::paused); });
  survive("RunTrace::resume", 8, [&] { trace.resume(run); });
  survive("RunTrace::finish_run", 4, [&] { trace.finish_run(run, "success"); });
  expect_sound(run);
  expect_sound(child);
}

// The removal of a long run is more than one transaction: what has begun is gone from view at once,
// and what is left of it goes with the next writer.
TEST_F(RunFaultsTest, ARemovalThatFailsHasNotBegunOrIsFinishedLater) {
  bool removed = false;
  for (int allowed = 0; allowed < 200 && !removed; ++allowed) {
    const ThreadId thread = store_.threads().create({}).thread.id;
    const RunId run =
        runs_.create({.agent_name = "a", .agent_version = "1", .model = "m", .thread_id = thread})
            .id;
    const RunId child = delegate(run, "c").id;
    const std::string before = contents();
    removed = !with_rows(allowed, [&] { store_.threads().remove(thread); });
    if (store_.threads().find(thread)) {
      EXPECT_EQ(contents(), before) << "after " << allowed << " rows";
      store_.threads().remove(thread);
    }
    EXPECT_EQ(runs_.find(run), std::nullopt);
    EXPECT_EQ(runs_.find(child), std::nullopt);
    StateStore::open(file_, options());
    for (const char* table : {"runs", "run_events", "run_calls", "run_working_state"}) {
      EXPECT_EQ(ask(connection_.get(), std::string("SELECT count(*) FROM ") + table), "0")
          << table << " after " << allowed << " rows";
    }
  }
  EXPECT_TRUE(removed);
}

TEST(RunFaultsCoverageTest, NoOperationThatWritesIsForgotten) {
  const std::string source = read_file(std::filesystem::path(RUN_TESTS) / "run_faults_test.cpp");
  std::set<std::string> swept;
  static const std::regex sweep("survive\\(\\s*\"(\\w+::\\w+)");
  for (std::sregex_iterator found(source.begin(), source.end(), sweep), none; found != none;
       ++found) {
    swept.insert((*found)[1]);
  }
  std::set<std::string> writing;
  for (const ApiMethod& method : run_api()) {
    if (method.writes) writing.insert(method.name);
  }
  EXPECT_EQ(swept, writing);
  EXPECT_GE(writing.size(), 45U);  // the headers were understood
}

}  // namespace
}  // namespace threadstore::test
