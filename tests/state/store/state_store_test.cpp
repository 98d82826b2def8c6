#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <thread>

#include "tests/support/opened_store.h"

namespace threadstore::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> answers(const std::vector<Check>& checks, CheckStatus status) {
  std::vector<std::string> names;
  for (const Check& check : checks) {
    if (check.status == status) names.push_back(check.name);
  }
  return names;
}

class StateStoreTest : public testing::Test {
 protected:
  StateStore open(OpenMode mode = OpenMode::read_write) const {
    return StateStore::open(directory_ / "state.db", {.mode = mode, .clock = clock_.clock()});
  }
  const TempDir directory_;
  const ManualClock clock_;
};

TEST_F(StateStoreTest, CopiesAndSecondOpensSeeTheSameStore) {
  const StateStore store = open();
  const StateStore copy = store;
  copy.threads().create({.id = ThreadId("t")});
  EXPECT_TRUE(open().threads().find(ThreadId("t")));
  EXPECT_EQ(store.path(), std::filesystem::canonical(directory_ / "state.db"));
}

TEST_F(StateStoreTest, TransactionIsAllOrNothingAndSeesItself) {
  const StateStore store = open();
  store.transaction([&] {
    store.threads().create({.id = ThreadId("a")});
    EXPECT_TRUE(store.threads().find(ThreadId("a")));
    EXPECT_THROW(store.transaction([&] {
      store.threads().create({.id = ThreadId("b")});
      throw std::runtime_error("inner");
    }),
                 std::runtime_error);
  });
  EXPECT_TRUE(store.threads().find(ThreadId("a")));
  EXPECT_FALSE(store.threads().find(ThreadId("b")));
}

TEST_F(StateStoreTest, ReadingAStoreThatDoesNotExistCreatesNothing) {
  try {
    open(OpenMode::read_only);
    FAIL() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::not_found);
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path()));
}

TEST_F(StateStoreTest, ChangeIsSeenByWhoWaits) {
  const StateStore store = open();
  const StateStore watcher = open(OpenMode::read_only);
  const auto mark = watcher.change_mark();
  EXPECT_FALSE(watcher.wait_for_change(mark, std::chrono::milliseconds(0)));
  store.threads().create({});
  EXPECT_TRUE(watcher.wait_for_change(mark, std::chrono::seconds(30)));
  EXPECT_FALSE(watcher.wait_for_change(watcher.change_mark(), std::chrono::milliseconds(1)));
  std::thread writer([&] { store.threads().create({}); });
  EXPECT_TRUE(store.wait_for_change(mark, std::chrono::seconds(30)));
  writer.join();
}

TEST_F(StateStoreTest, ReplacedStoreIsNoticed) {
  const StateStore store = open();
  store.threads().create({});
  std::filesystem::rename(directory_ / "state.db", directory_ / "moved.db");
  write_file(directory_ / "state.db", "");
  try {
    store.threads().create({});
    FAIL() << "written";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
    EXPECT_EQ(error.io_reason(), IoReason::store_replaced);
  }
}

TEST_F(StateStoreTest, DoctorIsContentWithAFreshStore) {
  const StateStore store = open();
  const ThreadId id = store.threads().create({.name = "n"}).thread.id;
  store.messages().append(id, {.role = "user", .content = "hi"});
  const auto checks = store.check();
  EXPECT_THAT(answers(checks, CheckStatus::failed), ElementsAre());
  const auto reader = open(OpenMode::read_only);
  EXPECT_THAT(answers(reader.check(), CheckStatus::failed), ElementsAre());
}

TEST_F(StateStoreTest, DoctorNamesWhatOtherProgramsBroke) {
  const StateStore store = open();
  const ThreadId id = store.threads().create({.id = ThreadId("t"), .name = "n"}).thread.id;
  std::filesystem::permissions(directory_ / "session_index.jsonl", std::filesystem::perms(0644));
  store.threads().create({.id = ThreadId("gone"), .name = "n"});
  std::filesystem::remove(directory_ / "session_index.jsonl");
  store.messages().append(id, {.role = "user", .content = "one"});
  store.messages().append(id, {.role = "user", .content = "two"});
  const auto sql = "sqlite3 '" + (directory_ / "state.db").string() +
                   "' 'DELETE FROM messages WHERE id = 1; "
                   "UPDATE threads SET current_leaf_id = 99 WHERE id = \"gone\"'";
  ASSERT_EQ(std::system(sql.c_str()), 0);
  EXPECT_THAT(answers(store.check(), CheckStatus::failed),
              ElementsAre("parents", "leaves", "index"));
}

TEST_F(StateStoreTest, DoctorSeesFilesThatOthersMayRead) {
  const StateStore store = open();
  store.threads().create({});
  std::filesystem::permissions(directory_ / "session_index.jsonl", std::filesystem::perms(0640));
  const Check modes = store.check().front();
  EXPECT_EQ(modes.status, CheckStatus::warning);
  EXPECT_THAT(modes.detail, HasSubstr("session_index.jsonl (0640)"));
}

TEST_F(StateStoreTest, StatsCountWhatIsThere) {
  const StateStore store = open();
  const ThreadId id = store.threads().create({.name = "n"}).thread.id;
  store.threads().archive(store.threads().create({}).thread.id);
  store.messages().append(id, {.role = "user", .content = "hi"});
  const StoreStats stats = store.stats();
  EXPECT_EQ(stats.threads, 2);
  EXPECT_EQ(stats.archived, 1);
  EXPECT_EQ(stats.messages, 1);
  EXPECT_EQ(stats.index_lines, 2);
  EXPECT_GT(stats.database_bytes + stats.wal_bytes, 0);
}

TEST_F(StateStoreTest, EveryFileIsPrivateWhateverTheUmask) {
  const auto old = ::umask(0);
  {
    const StateStore store = StateStore::open(directory_ / "deep/er/state.db");
    store.threads().create({.name = "n"});
    const Lease lease = store.leases().acquire(LeaseKind::thread, "t", "test");
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_ / "deep")) {
      EXPECT_EQ(entry.status().permissions(),
                std::filesystem::perms(entry.is_directory() ? 0700 : 0600))
          << entry.path();
    }
  }
  ::umask(old);
}

TEST(InMemoryStoreTest, NeverReachesTheDisk) {
  const StateStore store = StateStore::in_memory();
  EXPECT_EQ(store.index(), nullptr);
  const auto made = store.threads().create({.name = "n"});
  EXPECT_FALSE(made.index_pending);
  EXPECT_TRUE(store.verify_index().ok());
  EXPECT_EQ(store.threads().find_by_name("n").size(), 1U);
  EXPECT_FALSE(StateStore::in_memory().threads().find(made.thread.id));
}

}  // namespace
}  // namespace threadstore::test
