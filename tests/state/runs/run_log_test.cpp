#include <thread>

#include "tests/state/runs/run_fixture.h"

namespace threadstore::test {
namespace {

using testing::ElementsAre;

class RunLogTest : public RunFixture {};

std::vector<std::int64_t> sequences(const std::vector<RunEvent>& events) {
  std::vector<std::int64_t> result;
  for (const RunEvent& event : events) result.push_back(event.sequence);
  return result;
}

TEST_F(RunLogTest, AnEventReadsBackAsItWasGiven) {
  const RunId run = start().id;
  now_ += 5;
  EXPECT_EQ(runs_.log().append(run, "note.seen", R"({"n": 12345678901234567890, "a" : 1})"), 2);
  const auto events = runs_.log().list(run, 1);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0], (RunEvent{.gid = 2,
                                 .run_id = run,
                                 .sequence = 2,
                                 .timestamp = now_,
                                 .event_type = "note.seen",
                                 .payload = R"({"n": 12345678901234567890, "a" : 1})"}));
  EXPECT_EQ(runs_.get(run).updated_at, now_);
}

TEST_F(RunLogTest, ReservedTypesAndBadPayloadsUseNoSequenceUp) {
  const RunId run = start().id;
  for (const char* type :
       {"", "  ", "run.x", "checkpoint.x", "tool.x", "approval.x", "artifact.x", "delegation.x",
        "step.x", "policy.x", "sandbox.x", "budget.x", "model.requested", "model.responded"}) {
    EXPECT_EQ(error_of([&] { runs_.log().append(run, type); }), ErrorCode::invalid_argument);
  }
  EXPECT_EQ(error_of([&] { runs_.log().append(run, "note.x", "{"); }), ErrorCode::invalid_argument);
  EXPECT_EQ(error_of([&] {
              runs_.log().append(run, "note.x",
                                 '"' + std::string(default_run_content_limit, 'x') + '"');
            }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(runs_.log().append(run, "model.streamed"), 2);
}

TEST_F(RunLogTest, EventsAreReadAfterASequenceByTypeAndByPrefix) {
  const RunId run = start().id;
  for (const char* type : {"note.a", "other", "note.b", "note.a", "notes"}) {
    runs_.log().append(run, type);
  }
  EXPECT_THAT(sequences(runs_.log().list(run, 2, 2)), ElementsAre(3, 4));
  EXPECT_THAT(sequences(runs_.log().list_of_type(run, "note.a")), ElementsAre(2, 5));
  EXPECT_THAT(sequences(runs_.log().list_of_type(run, "note.")), ElementsAre(2, 4, 5));
  EXPECT_THAT(sequences(runs_.log().list_of_type(run, "note.", 2, 1)), ElementsAre(4));
}

TEST_F(RunLogTest, TheGlobalCursorFollowsAllRunsOfTheWorkspace) {
  const RunId a = start().id;
  const RunId b = start().id;
  const std::int64_t seen = runs_.log().newest_gid();
  runs_.log().append(b, "note.1");
  store_.runs("/other").create({.agent_name = "x", .agent_version = "1", .model = "m"});
  runs_.log().append(a, "note.2");
  std::vector<std::string> news;
  for (const RunEvent& event : runs_.log().since(seen)) news.push_back(event.event_type);
  EXPECT_THAT(news, ElementsAre("note.1", "note.2"));
}

TEST_F(RunLogTest, TwentyThreadsAppendWithoutAGapAndTheWorkingStateFollows) {
  const RunId run = start().id;
  std::vector<std::thread> threads;
  std::vector<std::int64_t> got(20);
  for (std::size_t i = 0; i < got.size(); ++i) {
    threads.emplace_back([&, i] { got[i] = store_.runs("/work").log().append(run, "note.x"); });
  }
  for (auto& thread : threads) thread.join();
  std::sort(got.begin(), got.end());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i], static_cast<std::int64_t>(i) + 2);
  }
  const WorkingState state = runs_.projections().working_state(run);
  EXPECT_EQ(state.status, WorkingStateStatus::current);
  EXPECT_EQ(state.revision, 21);
  EXPECT_EQ(state.event_cursor, 21);
}

TEST_F(RunLogTest, AStoppedRunTakesNoEvents) {
  const RunId run = start().id;
  runs_.finish(run, RunEnd::completed("done"));
  EXPECT_EQ(error_of([&] { runs_.log().append(run, "note.x"); }), ErrorCode::conflict);
  EXPECT_EQ(runs_.get(run).last_sequence, 2);
}

}  // namespace
}  // namespace threadstore::test
