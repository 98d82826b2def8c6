// Long threads: a fork copies nothing, and outlives what it was forked from; removal goes in short
// steps between which other processes write, and a death in the middle leaves nothing behind.
#include <signal.h>

#include <algorithm>

#include "tests/process/store_fixture.h"

namespace threadstore::test {
namespace {

class ForkRemovalTest : public StoreFixture {
 protected:
  static constexpr std::int64_t kBatch = 200;  ///< rows that one commit of a removal may touch

  /// A thread whose branch is `length` messages long, its tip named "tip".
  static ThreadId make_long_thread(const StateStore& store, std::size_t length) {
    const ThreadId thread = make_thread(store, "long");
    std::vector<NewMessage> batch;
    for (std::size_t i = 0; i < length; ++i) {
      batch.push_back({.role = "user", .content = i + 1 == length ? "tip" : "m"});
      if (batch.size() < 5'000 && i + 1 < length) continue;
      store.messages().append_many(thread, batch);
      batch.clear();
    }
    return thread;
  }

  /// The fork shows its whole history, from the tip to a root.
  static void expect_history(const StateStore& store, const ThreadId& fork, std::int64_t length) {
    std::int64_t seen = 0;
    std::optional<MessageId> next = store.threads().get(fork).current_leaf_id;
    store.messages().walk(fork, {}, [&](const Message& message) {
      EXPECT_EQ(message.id, next);
      next = message.parent_entry_id;
      ++seen;
      return true;
    });
    EXPECT_EQ(seen, length);
    EXPECT_EQ(next, std::nullopt);
    EXPECT_EQ(store.messages().count(fork), length);
  }

  std::uintmax_t wal_bytes() const {
    const std::string wal = database().string() + "-wal";
    return std::filesystem::exists(wal) ? std::filesystem::file_size(wal) : 0;
  }

  std::vector<std::string> leftovers(const ThreadId& thread) const {
    return plain_query(database(), "SELECT 'message' FROM messages WHERE thread_id = '" +
                                       thread.str() +
                                       "' UNION ALL SELECT 'removal' FROM thread_removals "
                                       "UNION ALL SELECT 'thread' FROM threads WHERE id = '" +
                                       thread.str() + "'");
  }
};

TEST_F(ForkRemovalTest, AForkOfALongThreadWritesNoMoreThanAnAppend) {
  const auto store = open();
  const ThreadId thread = make_long_thread(store, 100'000);
  // Each write is put behind a fresh checkpoint, so that the growth of the -wal is its own.
  const auto written_by = [&](auto&& write) {
    plain_query(database(), "PRAGMA wal_checkpoint(TRUNCATE)");
    write();
    return wal_bytes();
  };
  const auto rows = plain_query(database(), "SELECT count(*) FROM messages");
  ThreadId fork;
  const auto by_fork =
      written_by([&] { fork = store.threads().fork({.source = thread}).thread.id; });
  EXPECT_EQ(plain_query(database(), "SELECT count(*) FROM messages"), rows);
  EXPECT_GT(by_fork, 0U);
  EXPECT_LT(by_fork, 32U * 4'120U) << "a fork writes a handful of pages, whatever the depth";
  EXPECT_EQ(store.messages().list(fork, {.limit = 1}).messages.at(0).content, "tip");
}

TEST_F(ForkRemovalTest, ForksOutliveTheRemovalOfTheirSourceAndOfTheForkBetween) {
  constexpr std::int64_t length = 3'000;
  const auto store = open();
  const ThreadId source = make_long_thread(store, length);
  const ThreadId first = store.threads().fork({.source = source}).thread.id;
  store.messages().append(first, {.role = "user", .content = "of the first"});
  const ThreadId second = store.threads().fork({.source = first}).thread.id;
  store.messages().append(second, {.role = "user", .content = "of the second"});

  std::vector<std::int64_t> progress;
  EXPECT_TRUE(
      store.threads()
          .remove(source, [&](std::int64_t done, std::int64_t) { progress.push_back(done); })
          .existed);
  EXPECT_EQ(store.threads().find(source), std::nullopt);
  expect_history(store, first, length + 1);
  expect_history(store, second, length + 2);
  std::int64_t before = 0;
  for (const std::int64_t done : progress) {
    EXPECT_LE(done - before, kBatch);
    before = done;
  }

  EXPECT_TRUE(store.threads().remove(first).existed);
  EXPECT_EQ(store.threads().find(first), std::nullopt);
  expect_history(store, second, length + 2);
  EXPECT_EQ(leftovers(source), std::vector<std::string>{});
  EXPECT_EQ(leftovers(first), std::vector<std::string>{});
  expect_whole(store);
}

TEST_F(ForkRemovalTest, OtherProcessesAppendWhileALongThreadIsRemoved) {
  const auto store = open();
  const ThreadId source = make_long_thread(store, 20'000);
  const ThreadId fork = store.threads().fork({.source = source}).thread.id;
  const ThreadId other = make_thread(store, "other");

  ProcessSwarm writer({actor("keep-appending", {other.str()})});
  writer.go();
  ASSERT_EQ(writer[0].read_line(), "first");
  // How many steps of the removal saw that the other process had written since the step before.
  int steps = 0, interleaved = 0;
  std::int64_t before = store.messages().count(other);
  store.threads().remove(source, [&](std::int64_t, std::int64_t) {
    const std::int64_t now = store.messages().count(other);
    ++steps;
    if (now > before) ++interleaved;
    before = now;
  });
  writer.stop();
  const auto said = writer.finish();
  for (const std::string& line : said.at(0)) {
    RecordProperty(line.substr(0, line.find(' ')), line.substr(line.find(' ') + 1));
  }
  EXPECT_GE(steps, 20'000 / kBatch);
  EXPECT_GE(interleaved, steps / 2) << "of " << steps << " steps";
  expect_history(store, fork, 20'000);
  expect_whole(store);
}

TEST_F(ForkRemovalTest, ARemovalKilledInTheMiddleIsFinishedByTheNextWriter) {
  constexpr std::int64_t length = 10'000;
  ThreadId source, fork;
  {
    const auto store = open();
    source = make_long_thread(store, length);
    fork = store.threads().fork({.source = source}).thread.id;
  }
  ProcessSwarm remover({actor("remove", {source.str()})});
  remover.go();
  for (int batch = 0; batch < 3; ++batch) {
    ASSERT_TRUE(remover[0].read_line()->starts_with("batch "));
  }
  remover.kill(SIGKILL);
  remover[0].wait();
  ASSERT_NE(leftovers(source), std::vector<std::string>{}) << "the kill came too late";
  {
    // A reader does not mend, and already sees the thread as removed.
    const auto store = open({.mode = OpenMode::read_only});
    EXPECT_EQ(store.threads().find(source), std::nullopt);
    EXPECT_TRUE(store.threads().find_by_name("long").empty());
    expect_history(store, fork, length);
  }
  const auto store = open();
  store.messages().append(fork, {.role = "user", .content = "on it goes"});
  EXPECT_EQ(leftovers(source), std::vector<std::string>{});
  expect_history(store, fork, length + 1);
  expect_whole(store);
}

}  // namespace
}  // namespace threadstore::test
