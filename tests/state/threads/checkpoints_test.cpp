#include "threadstore/checkpoints.h"

#include "tests/state/threads/records_test.h"

namespace threadstore::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class CheckpointsTest : public RecordsTest {
 protected:
  MessageId say(const std::string& content) {
    return store.messages().append(thread, {.role = "user", .content = content}).id;
  }

  std::string latest() { return checkpoints.latest(thread).value().checkpoint_id.str(); }

  std::vector<std::string> listed(const CheckpointFilter& filter = {}) {
    std::vector<std::string> names;
    for (const Checkpoint& item : checkpoints.list(thread, filter).items) {
      names.push_back(item.checkpoint_id.str());
    }
    return names;
  }

  ThreadId thread = make_thread("t1");
  Checkpoints checkpoints = store.checkpoints();
};

TEST_F(CheckpointsTest, ASavedCheckpointReadsBackAsItWasGiven) {
  const MessageId leaf = say("hello");
  const std::string state = R"( {"b": 1, "a": 123456789012345678901234567890.10} )";
  const Checkpoint saved = checkpoints.save(thread, {.id = CheckpointId("c"), .state = state});
  const Checkpoint expected{.thread_id = thread,
                            .checkpoint_id = CheckpointId("c"),
                            .state = state,
                            .created_at = seconds,
                            .leaf_id = leaf,
                            .restorable = true};
  EXPECT_EQ(saved, expected);
  EXPECT_EQ(checkpoints.get(thread, CheckpointId("c")), expected);
  EXPECT_EQ(checkpoints.latest(thread), expected);
  EXPECT_EQ(checkpoints.list(thread).items, std::vector{expected});
}

TEST_F(CheckpointsTest, LatestIsTheLastOfTwentySavesWithinOneSecondOverwritingIncluded) {
  for (int save = 0; save < 20; ++save) {
    const std::string name = "c" + std::to_string(save * 7 % 6);
    checkpoints.save(thread, {.id = CheckpointId(name), .state = std::to_string(save)});
    EXPECT_EQ(checkpoints.latest(thread)->state, std::to_string(save));
    // The original's own query, whose order within one second it leaves open.
    EXPECT_EQ(other.ask("SELECT state_json FROM checkpoints WHERE thread_id = 't1' "
                        "ORDER BY created_at DESC LIMIT 1"),
              std::to_string(save));
  }
  EXPECT_EQ(listed(), (std::vector<std::string>{"c1", "c0", "c5", "c4", "c3", "c2"}));
}

TEST_F(CheckpointsTest, LatestIsTheLastWhenTheClockGoesBack) {
  checkpoints.save(thread, {.id = CheckpointId("first")});
  seconds -= 3600;
  const Checkpoint second = checkpoints.save(thread, {.id = CheckpointId("second")});
  EXPECT_EQ(second.created_at, seconds + 3600);
  EXPECT_EQ(latest(), "second");
}

TEST_F(CheckpointsTest, SavesOfAnotherProgramCountInTheSameOrder) {
  checkpoints.save(thread, {.id = CheckpointId("ours")});
  const std::string now = std::to_string(seconds);
  other.run(
      "INSERT INTO checkpoints (thread_id, checkpoint_id, state_json, created_at) "
      "VALUES ('t1', 'theirs', '{}', " +
      now + ")");
  EXPECT_EQ(latest(), "theirs");
  checkpoints.save(thread, {.id = CheckpointId("again")});
  EXPECT_EQ(latest(), "again");
  other.run(
      "INSERT INTO checkpoints (thread_id, checkpoint_id, state_json, created_at) "
      "VALUES ('t1', 'ours', '[1]', " +
      now +
      ") ON CONFLICT (thread_id, checkpoint_id) "
      "DO UPDATE SET state_json = excluded.state_json, created_at = excluded.created_at");
  EXPECT_EQ(latest(), "ours");
  EXPECT_FALSE(checkpoints.latest(thread)->restorable) << "the leaf belonged to the old state";
}

TEST_F(CheckpointsTest, OverwritingWhatAnotherProgramSavedWithAnOlderClockRemembersTheLeaf) {
  checkpoints.save(thread, {.id = CheckpointId("ours")});
  other.run(
      "INSERT INTO checkpoints (thread_id, checkpoint_id, state_json, created_at) "
      "VALUES ('t1', 'latest', '{}', 50)");
  EXPECT_TRUE(checkpoints.save(thread, {.id = CheckpointId("latest")}).restorable);
  EXPECT_EQ(latest(), "latest");
  EXPECT_TRUE(checkpoints.latest(thread)->restorable);
}

TEST_F(CheckpointsTest, ListGoesOnBehindACursor) {
  for (const char* name : {"a", "b", "c"}) checkpoints.save(thread, {.id = CheckpointId(name)});
  const auto page = checkpoints.list(thread, {.limit = 2});
  EXPECT_EQ(listed({.limit = 2}), (std::vector<std::string>{"c", "b"}));
  EXPECT_EQ(listed({.limit = 2, .after = page.next}), (std::vector<std::string>{"a"}));
  EXPECT_THAT(error_of([&] { checkpoints.list(thread, {.after = "nonsense"}); }),
              StartsWith("invalid_argument"));
}

TEST_F(CheckpointsTest, AStateOfSixteenMebibytesReadsBack) {
  const std::string state = '"' + std::string(16u << 20, 'x') + '"';
  checkpoints.save(thread, {.id = CheckpointId("big"), .state = state});
  EXPECT_TRUE(checkpoints.latest(thread)->state == state);
}

TEST_F(CheckpointsTest, InvalidInputChangesNothing) {
  checkpoints.save(thread, {.id = CheckpointId("c"), .state = "1"});
  EXPECT_THAT(error_of([&] { checkpoints.save(thread, {.id = CheckpointId("c"), .state = "{"}); }),
              AllOf(StartsWith("invalid_argument"), HasSubstr("checkpoint 'c' of thread t1")));
  EXPECT_THAT(error_of([&] { checkpoints.save(thread, {}); }), StartsWith("invalid_argument"));
  EXPECT_THAT(error_of([&] { checkpoints.save(ThreadId("none"), {.id = CheckpointId("c")}); }),
              AllOf(StartsWith("not_found"), HasSubstr("none")));
  EXPECT_EQ(checkpoints.latest(thread)->state, "1");
}

TEST_F(CheckpointsTest, DamagedJsonNamesItsCheckpointAndHurtsNoOther) {
  checkpoints.save(thread, {.id = CheckpointId("good"), .state = "1"});
  checkpoints.save(thread, {.id = CheckpointId("bad"), .state = "2"});
  other.run("UPDATE checkpoints SET state_json = '{\"a' WHERE checkpoint_id = 'bad'");
  EXPECT_THAT(error_of([&] { checkpoints.find(thread, CheckpointId("bad")); }),
              AllOf(StartsWith("damaged"), HasSubstr("checkpoint 'bad' of thread t1")));
  EXPECT_THAT(error_of([&] { checkpoints.latest(thread); }), StartsWith("damaged"));
  EXPECT_EQ(checkpoints.get(thread, CheckpointId("good")).state, "1");
  const auto items = checkpoints.list(thread).items;
  ASSERT_EQ(items.size(), 2u);
  EXPECT_TRUE(items[0].state_damaged);
  EXPECT_EQ(items[0].state, "{\"a");
  EXPECT_FALSE(items[1].state_damaged);
}

TEST_F(CheckpointsTest, RestoreSwitchesTheBranchAndDeletesNothing) {
  checkpoints.save(thread, {.id = CheckpointId("empty")});
  const MessageId first = say("one");
  checkpoints.save(thread, {.id = CheckpointId("one")});
  say("two");
  EXPECT_EQ(checkpoints.restore(thread, CheckpointId("one")).leaf_id, first);
  EXPECT_EQ(store.threads().get(thread).current_leaf_id, first);
  EXPECT_EQ(store.messages().count(thread), 2);
  checkpoints.restore(thread, CheckpointId("empty"));
  EXPECT_EQ(store.threads().get(thread).current_leaf_id, std::nullopt);
}

TEST_F(CheckpointsTest, RestoreWithoutItsMessageChangesNothing) {
  say("one");
  const MessageId second = say("two");
  checkpoints.save(thread, {.id = CheckpointId("two")});
  const MessageId first = store.messages().get(thread, second).parent_entry_id.value();
  store.messages().set_current_leaf(thread, first);
  other.run("DELETE FROM messages WHERE id = " + std::to_string(to_int(second)));
  EXPECT_THAT(error_of([&] { checkpoints.restore(thread, CheckpointId("two")); }),
              AllOf(StartsWith("not_found"), HasSubstr("checkpoint 'two'"),
                    HasSubstr(std::to_string(to_int(second)))));
  checkpoints.save(thread, {.id = CheckpointId("bare"), .remember_leaf = false});
  EXPECT_THAT(error_of([&] { checkpoints.restore(thread, CheckpointId("bare")); }),
              AllOf(StartsWith("invalid_argument"), HasSubstr("remembers no message")));
  EXPECT_THAT(error_of([&] { checkpoints.restore(thread, CheckpointId("none")); }),
              StartsWith("not_found"));
  EXPECT_EQ(store.threads().get(thread).current_leaf_id, first);
}

TEST_F(CheckpointsTest, RemoveSaysWhetherItWasThere) {
  checkpoints.save(thread, {.id = CheckpointId("c")});
  EXPECT_TRUE(checkpoints.remove(thread, CheckpointId("c")));
  EXPECT_FALSE(checkpoints.remove(thread, CheckpointId("c")));
  EXPECT_EQ(checkpoints.latest(thread), std::nullopt);
}

TEST_F(CheckpointsTest, ARemovedThreadHasNone) {
  checkpoints.save(thread, {.id = CheckpointId("c")});
  other.run("INSERT INTO thread_removals (thread_id, kind, up_to_id) VALUES ('t1', 'remove', 9)");
  EXPECT_EQ(checkpoints.find(thread, CheckpointId("c")), std::nullopt);
  EXPECT_EQ(checkpoints.latest(thread), std::nullopt);
  EXPECT_THAT(error_of([&] { checkpoints.list(thread); }), StartsWith("not_found"));
}

TEST(CheckpointsFixtureTest, ReadsWhatTheOriginalSaved) {
  FixtureStore original("original-v5");
  const Checkpoints checkpoints = original.store->checkpoints();
  const ThreadId thread("thread-linear");
  EXPECT_EQ(checkpoints.latest(thread)->state, R"({"turn":4})");
  EXPECT_EQ(checkpoints.latest(thread)->checkpoint_id.str(), "latest");
  EXPECT_EQ(checkpoints.list(thread).items.size(), 2u);
  const Checkpoint before = checkpoints.get(thread, CheckpointId("before-merge"));
  EXPECT_EQ(before.state, R"({"note":"snapshot","step":7})");
  EXPECT_EQ(before.created_at, 1795956003);
}

}  // namespace
}  // namespace threadstore::test
