// Another process holds a lock and never gives it back: calls end as busy at their deadline, and
// what can be done without that lock is done.
#include "tests/process/store_fixture.h"

namespace threadstore::test {
namespace {

class LockedTest : public StoreFixture {
 protected:
  /// The error that the call ends with.
  template <class Call>
  static Error error_of(Call&& call) {
    try {
      call();
    } catch (const Error& error) {
      return error;
    }
    throw std::runtime_error("the call succeeded");
  }
};

TEST_F(LockedTest, AHeldWriteTransactionEndsWritesAsBusyAndLetsReadsPass) {
  const ThreadId thread = make_thread(open());
  ProcessSwarm holder({actor("hold-write")});
  const auto store = open_impatient();
  const NewMessage message{.role = "user", .content = "hello"};
  const Error error = error_of([&] { store.messages().append(thread, message); });
  EXPECT_EQ(error.code(), ErrorCode::busy);
  EXPECT_THAT(error.what(), ::testing::HasSubstr(database().string()));
  EXPECT_EQ(store.messages().count(thread), 0);
  holder.stop();
  holder.finish();
  store.messages().append(thread, message);
  EXPECT_EQ(store.messages().count(thread), 1);
}

TEST_F(LockedTest, AStoreOpensWhileAnotherProcessHoldsTheWriteLock) {
  const ThreadId thread = make_thread(open(), "kept");
  ProcessSwarm holder({actor("hold-write")});
  EXPECT_EQ(open_impatient().threads().get(thread).name, "kept");
}

// A transaction that only reads at first must not find out later that another program wrote.
TEST_F(LockedTest, ATransactionHoldsTheWriteLockFromItsStart) {
  const auto store = open();
  const ThreadId thread = make_thread(store);
  // Empties the queue of the index: with rows in it, a transaction begins by writing.
  store.messages().append(thread, {.role = "user", .content = "before"});
  const std::string write_at_once =
      "PRAGMA busy_timeout = 0; UPDATE threads SET preview = 'theirs'";
  store.transaction([&] {
    EXPECT_EQ(store.messages().count(thread), 1);
    EXPECT_THROW(plain_query(database(), write_at_once), std::runtime_error);
    store.messages().append(thread, {.role = "user", .content = "ours"});
  });
  EXPECT_EQ(store.messages().count(thread), 2);
  plain_query(database(), write_at_once);
  EXPECT_EQ(store.threads().get(thread).preview, "theirs");
}

/// The two families of file locks do not see each other: both must be respected.
class IndexLockedTest : public LockedTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(IndexLockedTest, CompactionIsBusyAndARenameSucceedsAndIsIndexedLater) {
  const ThreadId thread = make_thread(open(), "before");
  ProcessSwarm holder({actor_on(index_lock(), GetParam())});
  const auto store = open_impatient();
  EXPECT_EQ(
      error_of([&] {
        SessionIndex(store.index()->file(), {.deadline = std::chrono::milliseconds(300)}).compact();
      }).code(),
      ErrorCode::busy);
  const ThreadChange renamed = store.threads().rename(thread, "after");
  EXPECT_TRUE(renamed.index_pending);
  EXPECT_EQ(store.threads().get(thread).name, "after");
  EXPECT_EQ(store.index()->find(thread)->thread_name, "before");
  EXPECT_EQ(store.index_backlog(), 1);

  holder.stop();
  holder.finish();
  const ThreadId other = make_thread(store, "other");  // the next write of anything
  EXPECT_EQ(store.index()->find(thread)->thread_name, "after");
  EXPECT_EQ(store.index()->find(other)->thread_name, "other");
  EXPECT_EQ(store.index_backlog(), 0);
}

INSTANTIATE_TEST_SUITE_P(BothFamilies, IndexLockedTest,
                         ::testing::Values("hold-flock", "hold-fcntl"), [](const auto& flavour) {
                           return std::string(flavour.param).substr(sizeof "hold-" - 1);
                         });

}  // namespace
}  // namespace threadstore::test
