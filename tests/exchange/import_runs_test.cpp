#include "tests/exchange/import_runs_fixture.h"

namespace threadstore::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kOldReleases[]{"0.1", "0.2", "0.3", "0.4", "0.5", "0.6"};

/// How each of the ten root runs ended.
struct Ended {
  const char* word;
  RunLifecycle lifecycle;
  std::optional<RunOutcome> outcome;
  std::optional<RunReason> reason;
};
const Ended kEnds[]{
    {"success", RunLifecycle::terminal, RunOutcome::completed, RunReason::final_response},
    {"awaiting_approval", RunLifecycle::suspended, RunOutcome::needs_user_input,
     RunReason::approval_required},
    {"denied", RunLifecycle::terminal, RunOutcome::failed, RunReason::permission_denied},
    {"step_cap_reached", RunLifecycle::terminal, RunOutcome::limit_exceeded,
     RunReason::model_turns},
    {"time_budget_exceeded", RunLifecycle::terminal, RunOutcome::limit_exceeded,
     RunReason::duration},
    {"cost_budget_exceeded", RunLifecycle::terminal, RunOutcome::limit_exceeded,
     RunReason::total_tokens},
    {"budget_ceiling_reached", RunLifecycle::terminal, RunOutcome::limit_exceeded,
     RunReason::total_tokens},
    {"escalated", RunLifecycle::terminal, RunOutcome::failed, RunReason::model_error},
    {nullptr, RunLifecycle::terminal, RunOutcome::failed, RunReason::legacy_failure},
    {nullptr, RunLifecycle::active, {}, {}},
};

TEST_F(ImportRunsTest, EveryReleaseIsTakenOnce) {
  for (const std::string number : kReleases) {
    SCOPED_TRACE(number);
    const bool has_child = number >= "0.5";
    const std::string before = base::sha256_of_file(release(number));
    const ImportRunsReport report = bring(release(number));
    EXPECT_EQ(report.kind, RunStoreKind::io_harness);
    EXPECT_EQ(report.release, number);
    EXPECT_THAT(report.not_understood, IsEmpty());
    EXPECT_EQ(report.imported.runs, has_child ? 11 : 10);
    EXPECT_EQ(report.imported.steps, 31);
    EXPECT_EQ(report.imported.requests, number >= "0.4" ? 2 : 0);
    EXPECT_EQ(report.imported.spawns, number >= "0.7" ? 1 : 0);
    expect_nothing_new(release(number), has_child ? 11 : 10);
    EXPECT_EQ(base::sha256_of_file(release(number)), before);
    expect_all_sound();
  }
  EXPECT_THAT(runs_.list({.limit = 1000}).items, SizeIs(4 * 10 + 3 * 11));
}

TEST_F(ImportRunsTest, EveryRunHasItsGoalFileAndOutcome) {
  for (const std::string number : kReleases) {
    SCOPED_TRACE(number);
    const StateStore store = StateStore::in_memory(options());
    import_runs(store, release(number), {.workspace = "/work"});
    for (const Run& run : store.runs("/work").list({.roots_only = true, .limit = 100}).items) {
      const std::size_t origin = std::stoul(run.origin_id.value_or("0"));
      SCOPED_TRACE(origin);
      ASSERT_TRUE(origin >= 1 && origin <= 10);
      const Ended& end = kEnds[origin - 1];
      EXPECT_EQ(run.input, "goal " + std::to_string(origin));
      EXPECT_EQ(run.file, "out" + std::to_string(origin) + ".txt");
      EXPECT_EQ(run.provider, origin == 1 && number >= "0.3"
                                  ? std::optional<std::string>("anthropic")
                                  : std::nullopt);
      EXPECT_EQ(run.lifecycle, end.lifecycle);
      EXPECT_EQ(run.outcome, end.outcome);
      EXPECT_EQ(run.reason_code, end.reason);
      EXPECT_EQ(run.outcome_text.has_value(), end.outcome.has_value());
      if (end.word != nullptr) {
        EXPECT_EQ(run.outcome_text, end.word);
      }
      EXPECT_EQ(run.created_at, number == "0.7" ? kStart : now_.load());
      EXPECT_EQ(run.lineage.depth, 0);
      if (end.outcome || number != "0.7") {
        EXPECT_EQ(run.elapsed_ms, 0);
      }
      EXPECT_EQ(run.agent_name, "io-harness");
      EXPECT_EQ(run.agent_version, number);
    }
  }
}

TEST_F(ImportRunsTest, StepsKeepTheirTextsAndRetriesAreAttempts) {
  for (const std::string number : kReleases) {
    SCOPED_TRACE(number);
    const StateStore store = StateStore::in_memory(options());
    import_runs(store, release(number), {.workspace = "/work"});
    const Runs runs = store.runs("/work");
    for (const Run& run : runs.list({.limit = 100}).items) {
      const auto stored = runs.steps().list(run.id).items;
      if (run.origin_id == "11") {
        EXPECT_THAT(stored, IsEmpty());
        continue;
      }
      ASSERT_EQ(stored.size(), run.origin_id == "1" ? 4U : 3U);
      for (const RunStep& step : stored) {
        const std::string n = std::to_string(step.step);
        if (step.attempt == 1) {
          EXPECT_EQ(step.decision, "decision " + n);
          EXPECT_EQ(step.result, "result " + n);
          EXPECT_EQ(step.prompt, number == "0.1" ? "" : "prompt " + n);
          EXPECT_EQ(step.tokens, number == "0.1" ? 0 : 10 * step.step);
          EXPECT_EQ(step.tool_call,
                    number == "0.1" || step.step == 1 ? "" : "{\"content\":\"v" + n + "\"}");
        }
      }
      EXPECT_EQ(runs.steps().last(run.id), 3);
    }
    const Run first = [&] {
      for (const Run& run : runs.list({.limit = 100}).items) {
        if (run.origin_id == "1") return run;
      }
      return Run{};
    }();
    const auto retried = runs.steps().list(first.id).items;
    ASSERT_EQ(retried.size(), 4);
    EXPECT_EQ(retried[3].step, 3);
    EXPECT_EQ(retried[3].attempt, 2);
    EXPECT_EQ(retried[3].decision, "retry 1 after error");
    EXPECT_EQ(retried[3].result, "retried");
    EXPECT_EQ(retried[2].committed_sequence, std::nullopt);
    EXPECT_NE(retried[3].committed_sequence, std::nullopt);
    EXPECT_EQ(runs.steps().last_committed(first.id), 3);
  }
}

TEST_F(ImportRunsTest, AuditListsComeInTheirOrder) {
  bring(release("0.7"));
  const RunId first = imported(1).id;
  const RunId child = imported(11).id;
  const auto policy = runs_.audit().policy(first);
  ASSERT_THAT(policy, SizeIs(2));
  PolicyEvent refused = PolicyEvent::refused(2, "write", "secrets/key.txt", "secrets/*", "base");
  PolicyEvent decided =
      PolicyEvent::decided(2, "write", "src/a.rs", "approve", "stdin", "src/sandbox/a.rs");
  refused.sequence = policy[0].sequence;
  decided.sequence = policy[1].sequence;
  refused.at = decided.at = kStart;
  EXPECT_THAT(policy, ElementsAre(refused, decided));

  const auto delegation = runs_.audit().delegation(first);
  ASSERT_THAT(delegation, SizeIs(2));
  EXPECT_EQ(delegation[0].kind, DelegationKind::spawn);
  EXPECT_EQ(delegation[0].step, 1);
  EXPECT_EQ(delegation[0].child_run_id, child);
  EXPECT_EQ(delegation[0].detail, "child goal");
  EXPECT_EQ(delegation[1].kind, DelegationKind::spawn_refused);
  EXPECT_EQ(delegation[1].detail, "agents");
  const auto drawn = runs_.audit().delegation(child);
  ASSERT_THAT(drawn, SizeIs(1));
  EXPECT_EQ(drawn[0].kind, DelegationKind::budget_draw);
  EXPECT_EQ(drawn[0].tokens, 30);
  EXPECT_EQ(drawn[0].remaining, 70);

  std::vector<std::pair<SandboxKind, std::string>> sandbox;
  for (const SandboxEvent& event : runs_.audit().sandbox(first)) {
    sandbox.emplace_back(event.kind, event.backend.value_or("-") + event.detail.value_or("-"));
    EXPECT_EQ(event.step, 2);
  }
  EXPECT_THAT(sandbox, ElementsAre(std::pair(SandboxKind::create, "bwrap-"),
                                   std::pair(SandboxKind::exec, "bwrapcargo test"),
                                   std::pair(SandboxKind::cap_hit, "-memory"),
                                   std::pair(SandboxKind::net_deny, "--"),
                                   std::pair(SandboxKind::destroy, "--")));
  EXPECT_EQ(runs_.steps().spent_tokens_tree(first), runs_.steps().spent_tokens(first));
}

TEST_F(ImportRunsTest, ARunBelowAnotherHasItsContract) {
  bring(release("0.7"));
  const Run parent = imported(1), child = imported(11);
  EXPECT_EQ(child.lineage.parent_run_id, parent.id);
  EXPECT_EQ(child.lineage.root_run_id, parent.id);
  EXPECT_EQ(child.lineage.depth, 1);
  SpawnContract expected{.parent_run_id = parent.id,
                         .step = 1,
                         .ordinal = 0,
                         .child_run_id = child.id,
                         .goal = "child goal",
                         .verify_file = "out1.txt",
                         .needle = "ok",
                         .max_steps = 5,
                         .deny_write = R"(["secrets/*"])",
                         .created_at = kStart};
  EXPECT_THAT(runs_.tree().spawns(parent.id), ElementsAre(expected));
  EXPECT_THAT(runs_.tree().ids(parent.id), ElementsAre(parent.id, child.id));
}

TEST_F(ImportRunsTest, DeferredApprovalsWaitOrAreDecided) {
  bring(release("0.4"));
  const auto waiting = runs_.requests().list(imported(2).id);
  ASSERT_THAT(waiting, SizeIs(1));
  EXPECT_EQ(waiting[0].act, "write");
  EXPECT_EQ(waiting[0].target, "src/a.rs");
  EXPECT_EQ(waiting[0].content, "fn a() {}");
  EXPECT_EQ(waiting[0].step, 3);
  EXPECT_EQ(waiting[0].origin_id, "1");
  EXPECT_EQ(waiting[0].decision, std::nullopt);
  const auto denied = runs_.requests().list(imported(3).id);
  ASSERT_THAT(denied, SizeIs(1));
  EXPECT_EQ(denied[0].decision, ApprovalDecision::denied);
  EXPECT_EQ(denied[0].origin_id, "2");
  // It can be decided here, and the run goes on.
  runs_.requests().decide(waiting[0].request_id, {ApprovalDecision::granted, "ann", {}});
  EXPECT_TRUE(runs_.steps().resume(imported(2).id).resumed);
  EXPECT_EQ(runs_.steps().resume(imported(2).id).from_step, 4);
  expect_all_sound();
}

// A.6 3, 6, 8, 10 and 16: what older files are like, and what can be done with them.

TEST_F(ImportRunsTest, OldFilesReadAsRootsWithDefaultsAndTakeWhatIsNew) {
  for (const std::string number : kOldReleases) {
    SCOPED_TRACE(number);
    Runs runs = store_.runs("/old/" + number);
    import_runs(store_, release(number), {.workspace = "/old/" + number});
    const RunId running = [&] {
      for (const Run& run : runs.list({.limit = 100}).items) {
        if (run.origin_id == "10") return run.id;
      }
      return RunId();
    }();
    RunTrace trace = runs.trace();
    EXPECT_EQ(trace.status(running), RunStatus::running);
    EXPECT_EQ(trace.parent(running), std::nullopt);
    EXPECT_EQ(trace.depth(running), 0);
    EXPECT_EQ(trace.elapsed_secs(running), 0.0);
    EXPECT_EQ(trace.provider(running), std::nullopt);
    trace.set_provider(running, "local");
    EXPECT_EQ(trace.provider(running), "local");
    runs.audit().record(running, PolicyEvent::refused(4, "exec", "rm"));
    EXPECT_THAT(runs.audit().policy(running), SizeIs(1));
    EXPECT_EQ(trace.last_step(running), 3);
    const RunId child = trace.start_child_run(running, {.goal = "part"});
    EXPECT_EQ(trace.depth(child), 1);
    trace.finish_run(child, "success");
    trace.checkpoint_step(running, {.step = 4, .tokens = 7});
    EXPECT_EQ(trace.last_step(running), 4);
    trace.set_status(running, RunStatus::completed);
    EXPECT_EQ(trace.status(running), RunStatus::completed);
    EXPECT_THAT(runs.projections().verify(running).what, IsEmpty());
  }
}

TEST_F(ImportRunsTest, AnOldFileWithoutStepsHasLastStepZero) {
  const Path file = copy_of(release("0.3"));
  change(file, "DELETE FROM steps");
  bring(file);
  EXPECT_EQ(runs_.steps().last(imported(1).id), 0);
  runs_.audit().record(imported(10).id, PolicyEvent::refused(1, "read", "x"));
  EXPECT_THAT(runs_.audit().policy(imported(10).id), SizeIs(1));
}

}  // namespace
}  // namespace threadstore::test
