#include "tests/state/runs/run_fixture.h"

namespace threadstore::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using Json = nlohmann::json;

class RunsTest : public RunFixture {
 protected:
  std::vector<RunId> ids(const Page<Run>& page) const {
    std::vector<RunId> result;
    for (const Run& run : page.items) result.push_back(run.id);
    return result;
  }
};

TEST_F(RunsTest, ANewRunIsActiveAndItsLogBeginsWithRunStarted) {
  const Run run = runs_.create({.agent_name = "coder",
                                .agent_version = "2",
                                .model = "m",
                                .input = "",
                                .budgets = {.max_turns = 3, .max_context_bytes = 9}});
  const Run expected{.id = run.id,
                     .workspace_id = "/work",
                     .agent_name = "coder",
                     .agent_version = "2",
                     .model = "m",
                     .lifecycle = RunLifecycle::active,
                     .created_at = now_,
                     .updated_at = now_,
                     .last_sequence = 1,
                     .budgets = {.max_turns = 3, .max_context_bytes = 9},
                     .lineage = {.root_run_id = run.id},
                     .recovery_disposition = RecoveryDisposition::restart_required};
  EXPECT_EQ(run, expected);
  EXPECT_EQ(runs_.get(run.id), run);
  EXPECT_THAT(types(run.id), ElementsAre("run.started"));
  EXPECT_EQ(payload(run.id, 1), (Json{{"agent", "coder"},
                                      {"model", "m"},
                                      {"workspace_id", "/work"},
                                      {"budgets",
                                       {{"max_turns", 3},
                                        {"timeout_seconds", nullptr},
                                        {"max_total_tokens", nullptr},
                                        {"max_tool_calls", nullptr},
                                        {"max_context_bytes", 9}}}}));
  expect_sound(run.id);
}

TEST_F(RunsTest, BlankNamesAndBudgetsOfZeroAreRefused) {
  const NewRun good{.agent_name = "a", .agent_version = "1", .model = "m"};
  for (const auto& spoil : std::vector<std::function<void(NewRun&)>>{
           [](NewRun& run) { run.agent_name = " "; }, [](NewRun& run) { run.agent_version = ""; },
           [](NewRun& run) { run.model = "\t"; }, [](NewRun& run) { run.budgets.max_turns = 0; },
           [](NewRun& run) { run.budgets.timeout_seconds = -1; },
           [](NewRun& run) { run.input = "\xff"; }, [](NewRun& run) { run.key = ""; }}) {
    NewRun bad = good;
    spoil(bad);
    EXPECT_EQ(error_of([&] { runs_.create(bad); }), ErrorCode::invalid_argument);
  }
  EXPECT_THAT(runs_.list().items, IsEmpty());
  EXPECT_EQ(error_of([&] { store_.runs(" "); }), ErrorCode::invalid_argument);
}

TEST_F(RunsTest, AKeyGivesTheSameRunAgainAndRefusesAnotherRequest) {
  const NewRun request{
      .agent_name = "a", .agent_version = "1", .model = "m", .input = "x", .key = "k"};
  const Run first = runs_.create(request);
  EXPECT_EQ(runs_.create(request), first);
  NewRun other = request;
  other.input = "y";
  EXPECT_EQ(error_of([&] { runs_.create(other); }), ErrorCode::conflict);
  EXPECT_NE(store_.runs("/elsewhere").create(request).id, first.id);
}

TEST_F(RunsTest, ListsAreNewestFirstWithTiesByIdAndGoOnAtTheCursor) {
  const RunId a = start().id;
  const RunId b = start().id;
  now_ += 10;
  const RunId c = start().id;
  EXPECT_THAT(ids(runs_.list()), ElementsAre(c, a, b));
  const auto first = runs_.list({.limit = 2});
  EXPECT_THAT(ids(first), ElementsAre(c, a));
  const auto second = runs_.list({.limit = 2, .after = first.next});
  EXPECT_THAT(ids(second), ElementsAre(b));
  EXPECT_EQ(second.next, std::nullopt);
  EXPECT_EQ(error_of([&] { runs_.list({.limit = 0}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(error_of([&] { runs_.list({.after = "x"}); }), ErrorCode::invalid_argument);
}

TEST_F(RunsTest, EveryFilterOfAListMustMatch) {
  const ThreadId thread = store_.threads().create({}).thread.id;
  const RunId plain = start().id;
  const RunId child = delegate(plain, "c").id;
  now_ += 10;
  const RunId threaded =
      runs_.create({.agent_name = "other", .agent_version = "1", .model = "m", .thread_id = thread})
          .id;
  runs_.finish(threaded, RunEnd::failed("no"));
  EXPECT_THAT(ids(runs_.list({.lifecycle = RunLifecycle::active})),
              UnorderedElementsAre(plain, child));
  EXPECT_THAT(ids(runs_.list({.lifecycle = RunLifecycle::terminal})), ElementsAre(threaded));
  EXPECT_THAT(ids(runs_.list({.outcome = RunOutcome::failed})), ElementsAre(threaded));
  EXPECT_THAT(ids(runs_.list({.thread = thread})), ElementsAre(threaded));
  EXPECT_THAT(ids(runs_.list({.agent_name = "helper"})), ElementsAre(child));
  EXPECT_THAT(ids(runs_.list({.created_since = now_.load()})), ElementsAre(threaded));
  EXPECT_THAT(ids(runs_.list({.created_until = now_.load()})), UnorderedElementsAre(plain, child));
  EXPECT_THAT(ids(runs_.list({.roots_only = true})), ElementsAre(threaded, plain));
  EXPECT_THAT(ids(runs_.list({.outcome = RunOutcome::failed, .agent_name = "coder"})), IsEmpty());
}

TEST_F(RunsTest, ARunIsFoundByBothEndsOfItsId) {
  const Run run = start();
  const std::string id = run.id.str();
  EXPECT_THAT(runs_.find_by_id_part(id.substr(0, 13)), ElementsAre(run));
  EXPECT_THAT(runs_.find_by_id_part(id.substr(id.size() - 8)), ElementsAre(run));
  EXPECT_THAT(runs_.find_by_id_part("zzzz"), IsEmpty());
}

TEST_F(RunsTest, AChildNeedsAStartedCallOfAgentInvoke) {
  const RunId parent = start().id;
  const NewChildRun child{.parent = parent,
                          .call = CallId("c"),
                          .run = {.agent_name = "h", .agent_version = "1", .model = "m"}};
  EXPECT_EQ(error_of([&] { runs_.create_child(child); }), ErrorCode::conflict);
  runs_.calls().request(parent, {.id = CallId("c"), .tool_name = "agent.invoke"});
  EXPECT_EQ(error_of([&] { runs_.create_child(child); }), ErrorCode::conflict);
  runs_.calls().start(parent, CallId("c"));
  const Run made = runs_.create_child(child);
  EXPECT_EQ(made.lineage, (RunLineage{.root_run_id = parent,
                                      .parent_run_id = parent,
                                      .parent_call_id = CallId("c"),
                                      .depth = 1}));
  EXPECT_EQ(runs_.lineage(made.id), made.lineage);
  EXPECT_THAT(runs_.children(parent), ElementsAre(made));
  EXPECT_THAT(types(parent),
              ElementsAre("run.started", "tool.requested", "tool.started", "delegation.started"));
  EXPECT_EQ(newest_payload(parent), (Json{{"call_id", "c"}, {"child_run_id", made.id.str()}}));
  EXPECT_THAT(types(made.id), ElementsAre("run.created"));
  EXPECT_EQ(newest_payload(made.id)["root_run_id"], parent.str());
  EXPECT_EQ(newest_payload(made.id)["depth"], 1);
  // One child per call: the second attempt changes nothing.
  EXPECT_EQ(error_of([&] { runs_.create_child(child); }), ErrorCode::conflict);
  EXPECT_EQ(types(parent).size(), 4U);
  EXPECT_EQ(runs_.children(parent).size(), 1U);
  expect_sound(parent);
}

TEST_F(RunsTest, AChildOfAnotherToolsCallOrBelowTheFourthLevelIsRefused) {
  RunId run = start().id;
  started_call(run, "sh1");
  EXPECT_EQ(error_of([&] {
              runs_.create_child({.parent = run,
                                  .call = CallId("sh1"),
                                  .run = {.agent_name = "h", .agent_version = "1", .model = "m"}});
            }),
            ErrorCode::conflict);
  for (int depth = 1; depth <= 4; ++depth) run = delegate(run, "c").id;
  EXPECT_EQ(runs_.lineage(run).depth, 4);
  EXPECT_EQ(error_of([&] { delegate(run, "c"); }), ErrorCode::conflict);
  const Run deeper =
      runs_.create_child({.parent = run,
                          .call = CallId("c"),
                          .run = {.agent_name = "h", .agent_version = "1", .model = "m"},
                          .max_depth = 5});
  EXPECT_EQ(deeper.lineage.depth, 5);
}

TEST_F(RunsTest, AChildWithAKeyIsMadeOnce) {
  const RunId parent = start().id;
  started_call(parent, "c", "agent.invoke");
  const NewChildRun child{
      .parent = parent,
      .call = CallId("c"),
      .run = {.agent_name = "h", .agent_version = "1", .model = "m", .key = "k"}};
  const Run made = runs_.create_child(child);
  EXPECT_EQ(runs_.create_child(child), made);
  EXPECT_EQ(types(parent).size(), 4U);
}

TEST_F(RunsTest, ATransactionOfTheStoreCoversRuns) {
  EXPECT_THROW(store_.transaction([&] {
    start();
    throw std::runtime_error("no");
  }),
               std::runtime_error);
  EXPECT_THAT(runs_.list().items, IsEmpty());
  EXPECT_EQ(runs_.log().newest_gid(), 0);
}

}  // namespace
}  // namespace threadstore::test
