#include "state/threads/removal.h"

#include <gmock/gmock.h>

#include <stdexcept>
#include <thread>

#include "tests/state/db/sqlite_connection.h"
#include "tests/state/threads/message_fixture.h"

namespace threadstore {
namespace {

using test::error_of;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Thrown by a progress callback: as if the process had died between two batches.
struct Killed : std::runtime_error {
  Killed() : std::runtime_error("killed") {}
};

class RemovalTest : public test::MessageStore {
 protected:
  void remove_and_die(const ThreadId& id) {
    EXPECT_THROW(store_.threads().remove(id, [](auto, auto) { throw Killed(); }), Killed);
  }
  void clear_and_die(const ThreadId& id) {
    EXPECT_THROW(messages_.clear(id, [](auto, auto) { throw Killed(); }), Killed);
  }
  std::string ask(const std::string& sql) {
    return test::ask(test::open_sqlite(dir_ / "state.db").get(), sql);
  }
  void run(const std::string& sql) { test::sql(test::open_sqlite(dir_ / "state.db").get(), sql); }

  ThreadId thread = make_thread();
};

TEST_F(RemovalTest, AMissingThreadIsNoError) {
  const RemovedThread removed = store_.threads().remove(ThreadId("none"));
  EXPECT_FALSE(removed.existed);
  EXPECT_EQ(error_of([&] { messages_.clear(ThreadId("none")); }), ErrorCode::not_found);
}

TEST_F(RemovalTest, TakesEverythingAndReportsProgress) {
  append_chain(thread, 500);
  std::vector<std::int64_t> done;
  const RemovedThread removed = store_.threads().remove(thread, [&](auto now, auto total) {
    done.push_back(now);
    EXPECT_EQ(total, 500);
  });
  EXPECT_EQ(removed.messages, 500);
  EXPECT_GE(done.size(), 2u);
  EXPECT_EQ(store_.threads().find(thread), std::nullopt);
  EXPECT_EQ(ask("SELECT count(*) FROM messages"), "0");
  EXPECT_EQ(ask("SELECT count(*) FROM thread_removals"), "0");
}

TEST_F(RemovalTest, TheThreadAnswersAsDeletedFromTheFirstCommitOn) {
  const auto chain = append_chain(thread, 500);
  const ThreadId copy = store_.threads().fork({.source = thread}).thread.id;
  remove_and_die(thread);
  EXPECT_EQ(store_.threads().find(thread), std::nullopt);
  EXPECT_EQ(error_of([&] { messages_.list(thread); }), ErrorCode::not_found);
  EXPECT_EQ(error_of([&] { append(thread, "late"); }), ErrorCode::not_found);
  EXPECT_EQ(error_of([&] { store_.threads().fork({.source = thread}); }), ErrorCode::not_found);
  EXPECT_EQ(error_of([&] { store_.threads().fork({.source = thread, .at = chain[0]}); }),
            ErrorCode::not_found);
  EXPECT_FALSE(store_.threads().remove(thread).existed);
  EXPECT_EQ(messages_.list(copy).messages.size(), 500u);
  EXPECT_EQ(messages_.tree(copy).size(), 500u);
}

TEST_F(RemovalTest, ThatDiedIsFinishedByTheNextOpener) {
  append_chain(thread, 700);
  const ThreadId copy = store_.threads().fork({.source = thread}).thread.id;
  remove_and_die(thread);
  EXPECT_NE(ask("SELECT count(*) FROM messages WHERE thread_id = 't'"), "0");
  const StateStore next = open();
  EXPECT_EQ(ask("SELECT count(*) FROM messages WHERE thread_id = 't'"), "0");
  EXPECT_EQ(ask("SELECT count(*) FROM threads"), "1");
  EXPECT_EQ(next.messages().list(copy, {.limit = 1000}).messages.size(), 700u);
}

TEST_F(RemovalTest, AForkOfAForkSurvivesWhenBothAreBeingRemoved) {
  append_chain(thread, 300);
  const ThreadId first = store_.threads().fork({.source = thread}).thread.id;
  append_chain(first, 300, "f");
  const ThreadId second = store_.threads().fork({.source = first}).thread.id;
  const auto history = ids(messages_.list(second, {.limit = 1000}).messages);
  remove_and_die(first);
  remove_and_die(thread);
  EXPECT_EQ(ids(messages_.list(second, {.limit = 1000}).messages), history);
  open();
  EXPECT_EQ(ids(messages_.list(second, {.limit = 1000}).messages), history);
  EXPECT_EQ(ask("SELECT count(DISTINCT thread_id) FROM messages"), "1");
}

TEST_F(RemovalTest, TheOldestForkInherits) {
  append_chain(thread, 3);
  const ThreadId older = store_.threads().fork({.source = thread}).thread.id;
  now_ += 1;
  const ThreadId younger = store_.threads().fork({.source = thread}).thread.id;
  append(younger, "x");
  store_.threads().remove(thread);
  EXPECT_EQ(ask("SELECT group_concat(thread_id = '" + older.str() + "') FROM messages"), "1,1,1,0");
  EXPECT_EQ(messages_.count(younger), 4);
}

TEST_F(RemovalTest, SideBranchesThatNoForkShowsAreDeleted) {
  const auto chain = append_chain(thread, 3);
  messages_.branch_at(thread, chain[0], {.role = "u", .content = "side"});
  const ThreadId copy = store_.threads().fork({.source = thread, .at = chain[1]}).thread.id;
  EXPECT_EQ(store_.threads().remove(thread).messages, 4);
  EXPECT_EQ(ask("SELECT group_concat(content) FROM messages"), "m1,m2");
  EXPECT_THAT(branch(copy), ElementsAre("m1", "m2"));
}

TEST_F(RemovalTest, ClearingHidesAtOnceAndNewMessagesAreSeenMeanwhile) {
  const auto chain = append_chain(thread, 500);
  clear_and_die(thread);
  EXPECT_EQ(store_.threads().get(thread).current_leaf_id, std::nullopt);
  EXPECT_THAT(branch(thread), IsEmpty());
  EXPECT_EQ(messages_.find(thread, chain[0]), std::nullopt);
  EXPECT_THAT(messages_.since(std::nullopt, MessageId{0}), IsEmpty());
  EXPECT_EQ(error_of([&] { messages_.set_current_leaf(thread, chain[0]); }), ErrorCode::not_found);
  const MessageId fresh = append(thread, "new");
  EXPECT_THAT(branch(thread), ElementsAre("new"));
  EXPECT_EQ(messages_.get(thread, fresh).parent_entry_id, std::nullopt);
  EXPECT_EQ(messages_.clear(thread).deleted, 1);
  EXPECT_EQ(ask("SELECT count(*) FROM messages"), "0");
}

TEST_F(RemovalTest, ClearingThatDiedIsFinishedByTheNextOpener) {
  append_chain(thread, 500);
  clear_and_die(thread);
  append(thread, "new");
  open();
  EXPECT_EQ(ask("SELECT group_concat(content) FROM messages"), "new");
  EXPECT_EQ(ask("SELECT count(*) FROM thread_removals"), "0");
  EXPECT_THAT(branch(thread), ElementsAre("new"));
}

TEST_F(RemovalTest, AReaderLearnsThatTheThreadWasCleared) {
  append_chain(thread, 3000);
  int seen = 0;
  EXPECT_EQ(error_of([&] {
              messages_.walk(thread, {}, [&](const Message&) {
                if (++seen == 1) messages_.clear(thread);
                return true;
              });
            }),
            ErrorCode::conflict);
  EXPECT_LT(seen, 3000);
}

TEST_F(RemovalTest, ChildrenOlderThanTheirParentsAreTakenFirst) {
  // The clock goes back with every message: the order by time is the reverse of the tree.
  std::vector<NewMessage> chain;
  for (int i = 0; i < 900; ++i) {
    chain.push_back({.role = "u", .content = std::to_string(i), .created_at = 5000 - i});
  }
  const auto ids = messages_.append_many(thread, chain).ids;
  const ThreadId copy = store_.threads().fork({.source = thread, .at = ids[449]}).thread.id;
  EXPECT_EQ(store_.threads().remove(thread).messages, 900);
  EXPECT_EQ(messages_.list(copy, {.limit = 1000}).messages.size(), 450u);
  EXPECT_EQ(ask("SELECT count(*) FROM messages"), "450");
}

TEST_F(RemovalTest, OthersAppendWhileALongRemovalRuns) {
  append_chain(thread, 4000);
  const ThreadId other = make_thread("other");
  int appended = 0;
  store_.threads().remove(thread, [&](auto, auto) {
    std::thread([&] { append(other, "x"); }).join();
    ++appended;
  });
  EXPECT_GE(appended, 19);
  EXPECT_EQ(messages_.count(other), appended);
}

TEST_F(RemovalTest, AThreadMadeAgainUnderTheIdKeepsItsMessages) {
  append_chain(thread, 500);
  // Another opener finishes the removal and somebody makes the thread again, between two batches.
  bool again = false;
  store_.threads().remove(thread, [&](auto, auto) {
    if (again) return;
    again = true;
    run("DELETE FROM messages; DELETE FROM thread_removals; DELETE FROM threads");
    make_thread();
    append(thread, "mine");
  });
  EXPECT_THAT(branch(thread), ElementsAre("mine"));
}

TEST_F(RemovalTest, ACycleOfParentsEnds) {
  const auto chain = append_chain(thread, 3);
  run("UPDATE messages SET parent_entry_id = 3 WHERE id = 1");
  EXPECT_EQ(error_of([&] { messages_.list(thread); }), ErrorCode::damaged);
  EXPECT_EQ(error_of([&] { messages_.list(thread, {.limit = 1}); }), std::nullopt);
  EXPECT_EQ(error_of([&] { messages_.list(thread, {.limit = 3}); }), ErrorCode::damaged);
  EXPECT_EQ(error_of([&] { messages_.depth(thread, chain[0]); }), ErrorCode::damaged);
  EXPECT_EQ(error_of([&] { messages_.tree(thread); }), ErrorCode::damaged);
  EXPECT_EQ(store_.threads().remove(thread).messages, 3);
}

TEST_F(RemovalTest, MessagesThatAnotherProgramDeletedAreReportedNotFollowed) {
  const auto chain = append_chain(thread, 4);
  run("DELETE FROM messages WHERE id = 2");
  EXPECT_THAT(contents(messages_.list(thread, {.limit = 2}).messages), ElementsAre("m3", "m4"));
  EXPECT_EQ(error_of([&] { messages_.list(thread); }), ErrorCode::damaged);
  EXPECT_EQ(error_of([&] { messages_.tree(thread); }), ErrorCode::damaged);
  run("DELETE FROM messages WHERE id = 4");
  EXPECT_EQ(error_of([&] { messages_.list(thread); }), ErrorCode::damaged);
  EXPECT_EQ(error_of([&] { append(thread, "x"); }), ErrorCode::damaged);
  messages_.set_current_leaf(thread, chain[2]);
  append(thread, "x");
  run("DELETE FROM messages");
  EXPECT_THAT(branch(thread), IsEmpty());
  append(thread, "root");
  EXPECT_THAT(branch(thread), ElementsAre("root"));
}

TEST_F(RemovalTest, AParentOfAnotherThreadIsDamage) {
  append_chain(thread, 2);
  const MessageId stranger = append(make_thread("other"), "x");
  run("UPDATE messages SET parent_entry_id = " + std::to_string(to_int(stranger)) +
      " WHERE id = 1");
  EXPECT_EQ(error_of([&] { messages_.list(thread); }), ErrorCode::damaged);
  EXPECT_EQ(error_of([&] { messages_.tree(thread); }), ErrorCode::damaged);
}

TEST_F(RemovalTest, BitRotAndDamagedItemsAreFlaggedAndCostOneMessage) {
  const MessageId a =
      messages_.append(thread, {.role = "u", .content = "abc", .item = "{\"k\":1}"}).id;
  const MessageId b = append(thread, "def");
  run("UPDATE messages SET item_json = '{\"k\":' WHERE id = 1");
  run("UPDATE messages SET content = 'deg' WHERE id = 2");
  const Message damaged = messages_.get(thread, a);
  EXPECT_EQ(damaged.item, "{\"k\":");
  EXPECT_TRUE(damaged.item_damaged && damaged.checksum_mismatch);
  const Message rotten = messages_.get(thread, b);
  EXPECT_TRUE(rotten.checksum_mismatch && !rotten.item_damaged);
  run("UPDATE messages SET checksum = NULL WHERE id = 2");
  EXPECT_FALSE(messages_.get(thread, b).checksum_mismatch);
}

}  // namespace
}  // namespace threadstore
