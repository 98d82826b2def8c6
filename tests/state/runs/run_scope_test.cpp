// Workspaces are sealed from each other: whatever is asked of another one's run, it does not exist.
#include <set>

#include "tests/state/runs/run_api.h"
#include "tests/state/runs/run_fixture.h"

namespace threadstore::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class RunScopeTest : public RunFixture {
 protected:
  /// Notes that the method was called from the other workspace, and found nothing.
  void gone(const std::string& method, const std::function<void()>& operation) {
    called_.insert(method);
    EXPECT_EQ(error_of(operation), ErrorCode::not_found) << method;
  }
  /// The operations that are about a run, a request or a spawn of one; the trace adds no other.
  static std::set<std::string> about_a_run() {
    std::set<std::string> names;
    for (const ApiMethod& method : run_api()) {
      const auto takes = [&](const char* word) {
        return method.parameters.find(word) != std::string::npos;
      };
      if (method.name == "Runs::holding") continue;  // asks nothing by itself
      if (takes("RunId&") || takes("RequestId") || takes("NewSpawn&") || takes("NewChildRun&")) {
        names.insert(method.name);
      }
    }
    return names;
  }

  const RunId run_ = start().id;
  const CallId c_{"c"};
  Runs other_ = store_.runs("/other");
  std::set<std::string> called_;
};

TEST_F(RunScopeTest, NothingOfARunIsThereForAnotherWorkspace) {
  runs_.calls().request(run_, {c_, "agent.invoke"});
  runs_.calls().request_approval(run_, c_, {Capability::network});
  const RequestId request =
      runs_.requests().put(run_, {.step = 1, .act = "exec", .target = "make"}).request_id;
  const Run before = runs_.get(run_);
  const NewRun made{.agent_name = "a", .agent_version = "1", .model = "m"};
  const Decision decision{.decision = ApprovalDecision::granted, .decided_by = "eve"};

  EXPECT_EQ(other_.find(run_), std::nullopt);
  called_.insert("Runs::find");
  EXPECT_THAT(other_.list().items, IsEmpty());
  EXPECT_THAT(other_.find_by_id_part(run_.str().substr(0, 8)), IsEmpty());
  gone("Runs::create_child",
       [&] { other_.create_child({.parent = run_, .call = c_, .run = made}); });
  gone("Runs::get", [&] { other_.get(run_); });
  gone("Runs::lineage", [&] { other_.lineage(run_); });
  gone("Runs::children", [&] { other_.children(run_); });
  gone("Runs::recovery_disposition", [&] { other_.recovery_disposition(run_); });
  gone("Runs::acquire", [&] { other_.acquire(run_, "p"); });
  gone("Runs::take_over", [&] { other_.take_over(run_, "p"); });
  gone("Runs::answer_effect",
       [&] { other_.answer_effect(run_, {.call = c_, .answered_by = "eve"}); });
  gone("Runs::finish", [&] { other_.finish(run_, RunEnd::cancelled()); });
  gone("Runs::latest_suspension", [&] { other_.latest_suspension(run_); });
  gone("Runs::suspensions", [&] { other_.suspensions(run_); });
  gone("Runs::continue_suspended", [&] {
    other_.continue_suspended(run_,
                              {.expected_sequence = 1, .suspension_sequence = 1, .input = "go"});
  });
  gone("Runs::abandon", [&] { other_.abandon(run_); });
  gone("Runs::reopen", [&] { other_.reopen(run_, before.last_sequence); });
  gone("Runs::set_provider", [&] { other_.set_provider(run_, "p"); });

  gone("RunLog::append", [&] { other_.log().append(run_, "note.x"); });
  gone("RunLog::list", [&] { other_.log().list(run_); });
  gone("RunLog::list_of_type", [&] { other_.log().list_of_type(run_, "tool."); });
  EXPECT_THAT(other_.log().since(0), IsEmpty());

  RunCalls calls = other_.calls();
  gone("RunCalls::request", [&] { calls.request(run_, {CallId("d"), "t"}); });
  gone("RunCalls::request_approval",
       [&] { calls.request_approval(run_, c_, {Capability::network}); });
  gone("RunCalls::decide", [&] { calls.decide(run_, c_, decision); });
  gone("RunCalls::start", [&] { calls.start(run_, c_); });
  gone("RunCalls::finish", [&] { calls.finish(run_, c_, CallOutcome::denied("no")); });
  gone("RunCalls::list", [&] { calls.list(run_); });
  gone("RunCalls::find", [&] { calls.find(run_, c_); });
  gone("RunCalls::get", [&] { calls.get(run_, c_); });
  gone("RunCalls::transcript", [&] { calls.transcript(run_); });
  gone("RunCalls::find_approval", [&] { calls.find_approval(run_, c_); });
  gone("RunCalls::approvals", [&] { calls.approvals(run_); });
  EXPECT_THAT(calls.pending_approvals(), IsEmpty());

  RunAccounts accounts = other_.accounts();
  gone("RunAccounts::request_model", [&] { accounts.request_model(run_); });
  gone("RunAccounts::record_response", [&] { accounts.record_response(run_, {}); });
  gone("RunAccounts::check_model_turn", [&] { accounts.check_model_turn(run_); });
  gone("RunAccounts::check_tool_calls", [&] { accounts.check_tool_calls(run_, 1); });
  gone("RunAccounts::raise", [&] { accounts.raise(run_, {.max_turns = 1}); });

  gone("RunCheckpoints::save", [&] { other_.checkpoints().save(run_, {}); });
  gone("RunCheckpoints::latest", [&] { other_.checkpoints().latest(run_); });
  gone("RunCheckpoints::find", [&] { other_.checkpoints().find(run_, "n"); });
  gone("RunCheckpoints::list", [&] { other_.checkpoints().list(run_); });
  gone("RunArtifacts::record", [&] {
    other_.artifacts().record(run_, {"a", std::string(64, '0'), 1});
  });
  gone("RunArtifacts::list", [&] { other_.artifacts().list(run_); });
  RunProjections projections = other_.projections();
  gone("RunProjections::working_state", [&] { projections.working_state(run_); });
  gone("RunProjections::rebuild_working_state", [&] { projections.rebuild_working_state(run_); });
  gone("RunProjections::verify", [&] { projections.verify(run_); });
  gone("RunProjections::rebuild", [&] { projections.rebuild(run_); });

  gone("Turns::finish", [&] { other_.turns().finish(run_, {.end = RunEnd::cancelled()}); });
  gone("Turns::finish_with",
       [&] { other_.turns().finish_with(run_, RunEnd::cancelled(), std::nullopt); });

  RunSteps steps = other_.steps();
  gone("RunSteps::record", [&] { steps.record(run_, {.step = 1}); });
  gone("RunSteps::commit", [&] { steps.commit(run_, {.step = 1}); });
  gone("RunSteps::list", [&] { steps.list(run_); });
  gone("RunSteps::last", [&] { steps.last(run_); });
  gone("RunSteps::last_committed", [&] { steps.last_committed(run_); });
  gone("RunSteps::spent_tokens", [&] { steps.spent_tokens(run_); });
  gone("RunSteps::spent_tokens_tree", [&] { steps.spent_tokens_tree(run_); });
  gone("RunSteps::resume", [&] { steps.resume(run_); });

  RunAudit audit = other_.audit();
  gone("RunAudit::record", [&] { audit.record(run_, PolicyEvent::refused(1, "exec", "rm")); });
  gone("RunAudit::record", [&] { audit.record(run_, DelegationEvent::drawn(1, 2, 3)); });
  gone("RunAudit::record", [&] { audit.record(run_, SandboxEvent{.step = 1}); });
  gone("RunAudit::policy", [&] { audit.policy(run_); });
  gone("RunAudit::delegation", [&] { audit.delegation(run_); });
  gone("RunAudit::sandbox", [&] { audit.sandbox(run_); });
  gone("RunAudit::steps", [&] { audit.steps(run_); });

  RunRequests requests = other_.requests();
  gone("RunRequests::put", [&] { requests.put(run_, {.act = "exec", .target = "x"}); });
  gone("RunRequests::decide", [&] { requests.decide(request, decision); });
  EXPECT_EQ(requests.find(request), std::nullopt);
  called_.insert("RunRequests::find");
  gone("RunRequests::get", [&] { requests.get(request); });
  gone("RunRequests::list", [&] { requests.list(run_); });
  gone("RunRequests::pending", [&] { requests.pending(run_); });
  EXPECT_THAT(requests.pending(), IsEmpty());

  RunTree tree = other_.tree();
  gone("RunTree::spawn", [&] { tree.spawn({.parent = run_, .goal = "g"}); });
  gone("RunTree::start_child", [&] { tree.start_child(run_, made); });
  gone("RunTree::find", [&] { tree.find(run_, 1, "g"); });
  gone("RunTree::find", [&] { tree.find(run_, 1, 0); });
  gone("RunTree::spawns", [&] { tree.spawns(run_); });
  gone("RunTree::ids", [&] { tree.ids(run_); });
  gone("RunTree::runs", [&] { tree.runs(run_); });
  gone("RunTree::usage", [&] { tree.usage(run_); });

  std::set<std::string> expected = about_a_run();
  // A shorthand for the groups above; run_trace_test asks each for an unknown run.
  std::erase_if(expected, [](const std::string& name) { return name.starts_with("RunTrace::"); });
  EXPECT_THAT(called_, testing::IsSupersetOf(expected));
  EXPECT_EQ(runs_.get(run_), before);
  EXPECT_THAT(types(run_), ElementsAre("run.started", "tool.requested", "approval.requested",
                                       "approval.requested"));
}

TEST_F(RunScopeTest, AThreadsRunsOfAnotherWorkspaceStayAttached) {
  const ThreadId thread = store_.threads().create({}).thread.id;
  const Turn turn =
      runs_.turns().begin({.thread = thread,
                           .message = {.role = "user", .content = "q"},
                           .run = {.agent_name = "a", .agent_version = "1", .model = "m"}});
  EXPECT_EQ(other_.detach(thread), 0);
  EXPECT_EQ(other_.turns().find(thread, turn.message.id), std::nullopt);
  EXPECT_THAT(other_.turns().list(thread, turn.message.id), IsEmpty());
  EXPECT_EQ(runs_.get(turn.run.id).thread_id, thread);
}

TEST_F(RunScopeTest, WhatIsReservedOrMalformedUsesNoSequenceUp) {
  const auto bad = ErrorCode::invalid_argument;
  for (const char* type : {"run.x", "checkpoint.x", "tool.x", "approval.x", "artifact.x",
                           "delegation.x", "model.requested", "model.responded"}) {
    EXPECT_EQ(error_of([&] { runs_.log().append(run_, type); }), bad) << type;
  }
  EXPECT_EQ(error_of([&] { runs_.checkpoints().save(run_, {.schema_version = 0}); }), bad);
  EXPECT_EQ(error_of([&] { runs_.checkpoints().save(run_, {.turn = -1}); }), bad);
  EXPECT_EQ(runs_.get(run_).last_sequence, 1);
  EXPECT_EQ(runs_.log().append(run_, "note.x"), 2);
}

}  // namespace
}  // namespace threadstore::test
