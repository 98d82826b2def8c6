// The facade, and through it what a harness that thinks in steps relies on.
#include "tests/state/db/sqlite_connection.h"
#include "tests/state/runs/run_fixture.h"

namespace threadstore::test {
namespace {

using testing::ElementsAre;

class RunTraceTest : public RunFileFixture {
 protected:
  RunTrace trace() const { return runs_.trace(); }

  RunId run_ = trace().start_run({.goal = "fix it", .file = "a.cpp"});
};

TEST_F(RunTraceTest, ARunKeepsItsGoalFileAndProvider) {
  const Run run = runs_.get(run_);
  EXPECT_EQ(run.input, "fix it");
  EXPECT_EQ(run.file, "a.cpp");
  EXPECT_EQ(trace().provider(run_), std::nullopt);
  trace().set_provider(run_, "acme");
  EXPECT_EQ(trace().provider(run_), "acme");
  EXPECT_EQ(newest_payload(run_).dump(), R"({"provider":"acme"})");
  const RunId empty = trace().start_run({});
  EXPECT_EQ(runs_.get(empty).input, "");
  EXPECT_EQ(runs_.get(empty).file, "");
  expect_sound(run_);
}

TEST_F(RunTraceTest, AFullTraceIsReadBackInOrder) {
  trace().checkpoint_step(run_, {.step = 1, .prompt = "p1", .tokens = 30});
  trace().record(run_, {.step = 2, .prompt = "p2", .tokens = 86});
  trace().checkpoint_step(run_, {.step = 2, .prompt = "p3", .tokens = 12});
  std::vector<std::string> prompts;
  for (const RunStep& step : trace().steps(run_)) prompts.push_back(step.prompt);
  EXPECT_THAT(prompts, ElementsAre("p1", "p2", "p3"));
  EXPECT_EQ(trace().spent_tokens(run_), 128);
  EXPECT_EQ(trace().last_step(run_), 2);
  EXPECT_EQ(trace().checkpoint_events(run_).size(), 2U);
  EXPECT_EQ(trace().checkpoint_events(run_).at(1).detail, std::nullopt);
}

TEST_F(RunTraceTest, AnOutcomeIsAWordThatIsKeptAndAReasonThatIsUnderstood) {
  struct Case {
    std::string word;
    RunReason reason;
    RunStatus status;
  };
  for (const Case& known :
       std::vector<Case>{{"success", RunReason::final_response, RunStatus::completed},
                         {"awaiting_approval", RunReason::approval_required, RunStatus::paused},
                         {"denied", RunReason::permission_denied, RunStatus::failed},
                         {"step_cap_reached", RunReason::model_turns, RunStatus::failed},
                         {"time_budget_exceeded", RunReason::duration, RunStatus::failed},
                         {"cost_budget_exceeded", RunReason::total_tokens, RunStatus::failed},
                         {"budget_ceiling_reached", RunReason::total_tokens, RunStatus::failed},
                         {"escalated", RunReason::model_error, RunStatus::failed},
                         {"something else", RunReason::legacy_failure, RunStatus::failed}}) {
    const RunId run = trace().start_run({.goal = known.word});
    EXPECT_EQ(trace().status(run), RunStatus::running);
    EXPECT_EQ(trace().outcome(run), std::nullopt);
    trace().finish_run(run, known.word);
    EXPECT_EQ(trace().outcome(run), known.word);
    EXPECT_EQ(trace().status(run), known.status) << known.word;
    EXPECT_EQ(runs_.get(run).reason_code, known.reason) << known.word;
    EXPECT_EQ(runs_.get(run).outcome_text, known.word);
    expect_sound(run);
  }
}

TEST_F(RunTraceTest, ARunThatWasStoppedOtherwiseHasAWordToo) {
  const auto word_of = [&](const RunEnd& end) {
    const RunId run = trace().start_run({});
    runs_.finish(run, end);
    return trace().outcome(run).value_or("");
  };
  EXPECT_EQ(word_of(RunEnd::completed("x")), "success");
  EXPECT_EQ(word_of(RunEnd::failed("x", RunReason::permission_denied)), "denied");
  EXPECT_EQ(word_of(RunEnd::limit_exceeded(RunReason::total_tokens)), "cost_budget_exceeded");
  EXPECT_EQ(word_of(RunEnd::failed("x", RunReason::tool_error)), "tool_error");
}

TEST_F(RunTraceTest, FinishingIsATransitionThatHappensOnce) {
  trace().finish_run(run_, "success");
  EXPECT_EQ(error_of([&] { trace().finish_run(run_, "denied"); }), ErrorCode::conflict);
  EXPECT_EQ(trace().outcome(run_), "success");
  const RunId paused = trace().start_run({});
  trace().finish_run(paused, "awaiting_approval");
  EXPECT_EQ(error_of([&] { trace().finish_run(paused, "awaiting_approval"); }),
            ErrorCode::conflict);
  trace().finish_run(paused, "denied");
  EXPECT_EQ(trace().outcome(paused), "denied");
  EXPECT_THAT(types(paused),
              ElementsAre("run.started", "run.needs_user_input", "run.continued", "run.failed"));
  EXPECT_EQ(error_of([&] { trace().finish_run(run_, " "); }), ErrorCode::invalid_argument);
}

TEST_F(RunTraceTest, AStatusIsReachedByTheStepThatLeadsThere) {
  using enum RunStatus;
  for (const RunStatus status : {running, paused, running, failed, running, completed}) {
    trace().set_status(run_, status);
    EXPECT_EQ(trace().status(run_), status);
    trace().set_status(run_, status);  // it has it
  }
  EXPECT_EQ(error_of([&] { trace().set_status(run_, running); }), ErrorCode::conflict);
  expect_sound(run_);
}

TEST_F(RunTraceTest, AChildStandsBelowItsParent) {
  const RunId child = trace().start_child_run(run_, {.goal = "part"});
  EXPECT_EQ(trace().depth(child), 1);
  EXPECT_EQ(trace().parent(child), run_);
  trace().record_agent_event(run_, DelegationEvent::spawned(1, child, "part"));
  EXPECT_EQ(trace().agent_events(run_).at(0).child_run_id, child);
  EXPECT_EQ(error_of([&] { trace().start_child_run(RunId("none"), {}); }), ErrorCode::not_found);
  trace().finish_run(child, "success");
  EXPECT_EQ(error_of([&] { trace().start_child_run(child, {}); }), ErrorCode::conflict);
  expect_sound(run_);
}

TEST_F(RunTraceTest, TheSecondDecisionLosesAndIsToldWho) {
  const RequestId request = trace().put_pending(run_, {.step = 1, .act = "exec", .target = "ls"});
  const Decision ann{.decision = ApprovalDecision::granted, .decided_by = "ann"};
  const Decision bob{.decision = ApprovalDecision::denied, .decided_by = "bob"};
  EXPECT_TRUE(trace().resolve_pending(request, ann).won);
  const Resolution second = trace().resolve_pending(request, bob);
  EXPECT_FALSE(second.won);
  EXPECT_EQ(second.request.decided_by, "ann");
  EXPECT_EQ(second.request.decision, ApprovalDecision::granted);
  EXPECT_EQ(trace().pending(request), second.request);
  EXPECT_TRUE(trace().pending_approvals().empty());
  EXPECT_TRUE(trace().pending_approvals(run_).empty());
}

TEST_F(RunTraceTest, ARunIsResumableFromAFileThatWeUnderstand) {
  trace().check_resumable(run_);
  EXPECT_EQ(error_of([&] { trace().check_resumable(RunId("9999")); }), ErrorCode::not_found);
  sql(open_sqlite(file_).get(),
      "UPDATE threadstore_schema SET version = 8 WHERE component = 'runs'");
  try {
    trace().check_resumable(run_);
    ADD_FAILURE() << "a newer format was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::newer_format);
    EXPECT_THAT(error.what(), testing::HasSubstr("version 8"));
    EXPECT_THAT(error.what(), testing::HasSubstr("version 2"));
  }
}

TEST_F(RunTraceTest, AnUnknownRunIsNotFoundByAnyRead) {
  const RunId none("none");
  const std::vector<std::function<void()>> reads{[&] { trace().status(none); },
                                                 [&] { trace().outcome(none); },
                                                 [&] { trace().provider(none); },
                                                 [&] { trace().parent(none); },
                                                 [&] { trace().depth(none); },
                                                 [&] { trace().children(none); },
                                                 [&] { trace().elapsed_secs(none); },
                                                 [&] { trace().tree_run_ids(none); },
                                                 [&] { trace().steps(none); },
                                                 [&] { trace().last_step(none); },
                                                 [&] { trace().spent_tokens(none); },
                                                 [&] { trace().spent_tokens_tree(none); },
                                                 [&] { trace().events(none); },
                                                 [&] { trace().agent_events(none); },
                                                 [&] { trace().sandbox_events(none); },
                                                 [&] { trace().checkpoint_events(none); },
                                                 [&] { trace().resume(none); },
                                                 [&] { trace().pending_approvals(none); },
                                                 [&] { trace().find_spawn(none, 1, "x"); }};
  for (const auto& read : reads) EXPECT_EQ(error_of(read), ErrorCode::not_found);
}

}  // namespace
}  // namespace threadstore::test
