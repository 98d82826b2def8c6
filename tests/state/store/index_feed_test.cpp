#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>

#include "tests/support/child_process.h"
#include "tests/support/opened_store.h"
#include "tests/support/recording_system.h"

namespace threadstore::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// Another program that keeps the index locked.
class HeldIndexLock {
 public:
  explicit HeldIndexLock(const std::filesystem::path& file)
      : descriptor_(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    EXPECT_EQ(::flock(descriptor_, LOCK_EX), 0);
  }
  ~HeldIndexLock() { ::close(descriptor_); }
  HeldIndexLock(const HeldIndexLock&) = delete;
  HeldIndexLock& operator=(const HeldIndexLock&) = delete;

 private:
  int descriptor_;
};

class IndexFeedTest : public testing::Test {
 protected:
  StateStore open() const {
    return StateStore::open(file_, {.deadline = std::chrono::milliseconds(100)});
  }
  std::string index_text() const { return read_file(directory_ / "session_index.jsonl"); }
  std::optional<std::string> indexed_name(const StateStore& store, const ThreadId& id) const {
    const auto entry = store.index()->find(id);
    return entry ? entry->thread_name : std::nullopt;
  }

  const TempDir directory_;
  const std::filesystem::path file_ = directory_ / "state.db";
  const std::filesystem::path lock_ = directory_ / "session_index.jsonl.lock";
  const ThreadId id_{"t"};
};

TEST_F(IndexFeedTest, NewRenamedAndUpsertedThreadsAreInTheIndexWhenTheCallReturns) {
  const StateStore store = open();
  const auto made =
      store.threads().create({.id = id_, .name = "first", .rollout_path = "/r", .created_at = 7});
  EXPECT_FALSE(made.index_pending);
  EXPECT_EQ(store.index()->find(id_), (IndexEntry{id_, "first", 7, "/r", false}));
  EXPECT_FALSE(store.threads().rename(id_, "second").index_pending);
  EXPECT_EQ(indexed_name(store, id_), "second");
  Thread thread = store.threads().get(id_);
  thread.name.reset();
  store.threads().upsert(thread);
  EXPECT_EQ(store.index()->find(id_), (IndexEntry{id_, std::nullopt, 7, "/r", false}));
  EXPECT_TRUE(store.verify_index().ok());
  EXPECT_EQ(store.index_backlog(), 0);
}

TEST_F(IndexFeedTest, WhatTheIndexDoesNotSayWritesNoLine) {
  const StateStore store = open();
  store.threads().create({.id = id_, .name = "name"});
  const std::string before = index_text();
  store.threads().update(id_, {.preview = "words"});
  store.threads().archive(id_);
  store.threads().touch(id_);
  store.messages().append(id_, {.role = "user", .content = "hi"});
  EXPECT_EQ(index_text(), before);
}

TEST_F(IndexFeedTest, InsideATransactionTheLineWaitsForTheCommit) {
  const StateStore store = open();
  store.transaction([&] {
    EXPECT_TRUE(store.threads().create({.id = id_, .name = "inside"}).index_pending);
    EXPECT_EQ(store.index()->find(id_), std::nullopt);
  });
  EXPECT_EQ(indexed_name(store, id_), "inside");
}

TEST_F(IndexFeedTest, RolledBackChangesNeverReachTheIndex) {
  const StateStore store = open();
  EXPECT_THROW(store.transaction([&] {
    store.threads().create({.id = id_, .name = "gone"});
    throw std::runtime_error("no");
  }),
               std::runtime_error);
  EXPECT_EQ(store.threads().find(id_), std::nullopt);
  EXPECT_TRUE(store.index()->entries().empty());
}

TEST_F(IndexFeedTest, HeldIndexLockLeavesTheChangeStoredAndTheLinePending) {
  const StateStore store = open();
  store.threads().create({.id = id_, .name = "before"});
  {
    const HeldIndexLock held(lock_);
    EXPECT_TRUE(store.threads().rename(id_, "after").index_pending);
    EXPECT_EQ(store.threads().get(id_).name, "after");
    EXPECT_EQ(indexed_name(store, id_), "before");
    EXPECT_EQ(store.index_backlog(), 1);
  }
  store.messages().append(id_, {.role = "user", .content = "any write brings it in"});
  EXPECT_EQ(indexed_name(store, id_), "after");
  EXPECT_EQ(store.index_backlog(), 0);
}

TEST_F(IndexFeedTest, WritesOfAnotherStoreBringPendingLinesIn) {
  const StateStore other = StateStore::open(file_);
  {
    const StateStore store = open();
    store.threads().create({.id = id_});
    const HeldIndexLock held(lock_);
    store.threads().rename(id_, "late");
  }
  other.threads().touch(id_);
  EXPECT_EQ(indexed_name(other, id_), "late");
}

TEST_F(IndexFeedTest, ProcessKilledBetweenCommitAndAppendLosesNoLine) {
  StateStore::open(file_).threads().create({.id = id_, .name = "before"});
  {
    const HeldIndexLock held(lock_);
    ChildProcess child({RENAME_ACTOR, file_.string(), "t", "after"});
    EXPECT_EQ(child.read_line(), "open");
    const auto reader = StateStore::open(file_, {.mode = OpenMode::read_only});
    while (reader.threads().get(id_).name != "after") {  // committed; the append waits for us
      const auto mark = reader.change_mark();
      if (reader.threads().get(id_).name == "after") break;
      ASSERT_TRUE(reader.wait_for_change(mark, std::chrono::seconds(30)));
    }
    child.kill(SIGKILL);
    child.wait();
  }
  EXPECT_THAT(index_text(), Not(HasSubstr("after")));
  const StateStore next = open();
  EXPECT_EQ(indexed_name(next, id_), "after");
  EXPECT_TRUE(next.verify_index().ok());
}

TEST_F(IndexFeedTest, RowsGoWithTheNextWriteOrTheClosing) {
  {
    const StateStore store = open();
    store.threads().create({.id = id_});
    EXPECT_EQ(store.index_backlog(), 0);
  }
  const std::string lines = index_text();
  open().threads().touch(id_);  // finds nothing to write again
  EXPECT_EQ(index_text(), lines);
}

TEST_F(IndexFeedTest, AChangeWaitsForItsCommitOnlyAndLinesAreSyncedTogether) {
  RecordingSystem system;
  const base::SystemOverride use(system);
  const auto syncs = [&] {
    return std::count(system.calls.begin(), system.calls.end(), "datasync session_index.jsonl");
  };
  std::optional<StateStore> store = open();
  store->threads().create({.id = id_, .name = "name 0"});
  for (int i = 1; i < 63; ++i) store->threads().rename(id_, "name " + std::to_string(i));
  EXPECT_EQ(syncs(), 0);
  EXPECT_EQ(indexed_name(*store, id_), "name 62");
  store->threads().rename(id_, "name 63");
  EXPECT_EQ(syncs(), 1);
  store->threads().rename(id_, "name 64");
  store.reset();
  EXPECT_EQ(syncs(), 2);
}

TEST_F(IndexFeedTest, LinesThatTheDiskRefusedAreAppendedAgain) {
  {
    RecordingSystem system;
    system.fail_call = "datasync session_index.jsonl";
    const base::SystemOverride use(system);
    open().threads().create({.id = id_, .name = "name"});
  }
  std::filesystem::remove(directory_ / "session_index.jsonl");  // what the system may make of it
  const StateStore store = open();
  store.threads().create({.id = ThreadId("other")});
  EXPECT_EQ(indexed_name(store, id_), "name");
  EXPECT_TRUE(store.verify_index().ok());
}

TEST_F(IndexFeedTest, RemovedThreadIsATombstoneAndItsNameLeavesTheFile) {
  const StateStore store = open();
  store.threads().create({.id = id_, .name = "secret name"});
  store.threads().create({.id = ThreadId("other"), .name = "kept"});
  EXPECT_TRUE(store.threads().remove(id_).existed);
  EXPECT_EQ(store.index()->find(id_), std::nullopt);
  EXPECT_THAT(index_text(), Not(HasSubstr("secret name")));
  EXPECT_EQ(indexed_name(store, ThreadId("other")), "kept");
  EXPECT_TRUE(store.verify_index().ok());
}

TEST_F(IndexFeedTest, ThreadMadeAgainUnderItsOldIdIsInTheIndexAgain) {
  const StateStore store = open();
  store.threads().create({.id = id_, .name = "first"});
  store.threads().remove(id_);
  store.threads().create({.id = id_, .name = "again"});
  EXPECT_EQ(indexed_name(store, id_), "again");
  EXPECT_TRUE(store.verify_index().ok());
  store.threads().rename(id_, "renamed");
  store.index()->compact();
  EXPECT_EQ(indexed_name(store, id_), "renamed");
  store.threads().remove(id_);
  EXPECT_EQ(store.index()->find(id_), std::nullopt);
}

TEST_F(IndexFeedTest, RevivalThatWaitedForTheLockTakesTheTombstoneBack) {
  const StateStore store = open();
  store.threads().create({.id = id_, .name = "first"});
  store.threads().remove(id_);
  {
    const HeldIndexLock held(lock_);
    EXPECT_TRUE(store.threads().create({.id = id_, .name = "again"}).index_pending);
    EXPECT_TRUE(store.threads().rename(id_, "renamed").index_pending);
  }
  store.threads().touch(id_);
  EXPECT_EQ(indexed_name(store, id_), "renamed");
  EXPECT_TRUE(store.verify_index().ok());
}

TEST_F(IndexFeedTest, RepairTakesBackATombstoneOfALivingThread) {
  const StateStore store = open();
  store.threads().create({.id = id_, .name = "alive"});
  store.index()->append_tombstone(id_, 1);
  EXPECT_THAT(store.repair_index().missing, ElementsAre(id_));
  EXPECT_EQ(indexed_name(store, id_), "alive");
  EXPECT_TRUE(store.verify_index().ok());
}

TEST_F(IndexFeedTest, DeletedOrWrongIndexIsNoticedRepairedAndRebuilt) {
  const StateStore store = open();
  for (const char* id : {"a", "b", "c"}) store.threads().create({.id = ThreadId(id), .name = id});
  std::filesystem::remove(directory_ / "session_index.jsonl");
  store.index()->append({ThreadId("b"), "wrong", 1, std::nullopt, false});
  store.index()->append({ThreadId("x"), "extra", 1, std::nullopt, false});
  const IndexDifference difference = store.repair_index();
  EXPECT_THAT(difference.missing, ElementsAre(ThreadId("a"), ThreadId("c")));
  EXPECT_THAT(difference.different, ElementsAre(ThreadId("b")));
  EXPECT_THAT(difference.extra, ElementsAre(ThreadId("x")));
  EXPECT_TRUE(store.verify_index().ok());
  store.index()->append({ThreadId("y"), "extra", 1, std::nullopt, false});
  EXPECT_FALSE(store.rebuild_index().ok());
  EXPECT_TRUE(store.verify_index().ok());
}

}  // namespace
}  // namespace threadstore::test
