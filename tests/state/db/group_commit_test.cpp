#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "state/db/database.h"
#include "tests/support/temp_dir.h"
#include "threadstore/error.h"

namespace threadstore::db {
namespace {

using test::TempDir;

class GroupCommitTest : public testing::Test {
 protected:
  GroupCommitTest() : database_(Database::open(dir_ / "s.db", {})) {
    database_->write([](Session& session) {
      session.script("CREATE TABLE words(id INTEGER PRIMARY KEY, word TEXT UNIQUE)");
    });
  }

  std::int64_t add(const std::string& word) {
    return database_->write_shared(word.size(), [&](Session& session) {
      return session.insert("INSERT INTO words(word) VALUES(?)", {word});
    });
  }

  std::vector<std::string> words() {
    return database_->read([](Session& session) {
      return session.all("SELECT word FROM words ORDER BY id", {},
                         [](const Row& row) { return row.text(0); });
    });
  }

  /// Starts one thread per body, all of which wait for the write lock that this thread holds.
  template <class... Bodies>
  void run_as_one_batch(const Bodies&... bodies) {
    std::latch started(sizeof...(bodies));
    std::vector<std::thread> threads;
    database_->write([&](Session&) {
      (threads.emplace_back([&] {
        started.count_down();
        bodies();
      }),
       ...);
      started.wait();
    });
    for (auto& thread : threads) thread.join();
  }

  const TempDir dir_;
  const std::shared_ptr<Database> database_;
};

TEST_F(GroupCommitTest, EveryThreadGetsItsOwnResult) {
  constexpr int kThreads = 8;
  constexpr int kEach = 50;
  std::vector<std::vector<std::int64_t>> ids(kThreads);
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number) {
    threads.emplace_back([&, number] {
      for (int count = 0; count < kEach; ++count) {
        ids[static_cast<std::size_t>(number)].push_back(
            add(std::to_string(number) + "/" + std::to_string(count)));
      }
    });
  }
  for (auto& thread : threads) thread.join();

  const std::vector<std::string> stored = words();
  ASSERT_EQ(stored.size(), static_cast<std::size_t>(kThreads * kEach));
  for (int number = 0; number < kThreads; ++number) {
    for (int count = 0; count < kEach; ++count) {
      const auto id = ids[static_cast<std::size_t>(number)][static_cast<std::size_t>(count)];
      EXPECT_EQ(stored[static_cast<std::size_t>(id - 1)],
                std::to_string(number) + "/" + std::to_string(count));
    }
  }
}

TEST_F(GroupCommitTest, OneCallsFailureIsItsOwn) {
  add("taken");
  std::atomic<int> failures = 0;
  const auto fails = [&] {
    try {
      add("taken");
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::conflict);
      ++failures;
    }
  };
  run_as_one_batch([&] { add("a"); }, fails, [&] { add("b"); }, fails, [&] { add("c"); });
  EXPECT_EQ(failures, 2);
  EXPECT_THAT(words(), testing::UnorderedElementsAre("taken", "a", "b", "c"));
}

TEST_F(GroupCommitTest, WhenOneRollsTheBatchBackTheOthersRunAgain) {
  std::atomic<int> failures = 0;
  const auto rolls_back = [&] {
    try {
      database_->write_shared(1, [](Session& session) {
        session.run("INSERT INTO words(id, word) VALUES(1000, 'lost')");
        session.run("INSERT OR ROLLBACK INTO words(id, word) VALUES(1000, 'lost again')");
      });
    } catch (const Error&) {
      ++failures;
    }
  };
  run_as_one_batch([&] { add("a"); }, rolls_back, [&] { add("b"); }, [&] { add("c"); });
  EXPECT_EQ(failures, 1);
  EXPECT_THAT(words(), testing::UnorderedElementsAre("a", "b", "c"));
}

TEST_F(GroupCommitTest, InsideATransactionItIsASavepointOfIt) {
  EXPECT_THROW(database_->write([&](Session&) {
    add("undone with the transaction");
    throw std::runtime_error("no");
  }),
               std::runtime_error);
  EXPECT_TRUE(words().empty());
}

TEST_F(GroupCommitTest, PastTheDeadlineACallThatNobodyRanIsBusyAndLeavesNothing) {
  auto hurried = Database::open(dir_ / "other.db", {.deadline = std::chrono::milliseconds(30)});
  hurried->write([](Session& session) { session.script("CREATE TABLE words(word TEXT)"); });
  const auto count = [&] {
    return hurried->read(
        [](Session& session) { return session.value<std::int64_t>("SELECT count(*) FROM words"); });
  };
  hurried->write([&](Session&) {
    std::vector<std::thread> threads;
    for (int number = 0; number < 3; ++number) {
      threads.emplace_back([&] {
        EXPECT_THROW(hurried->write_shared(
                         1, [](Session& session) { session.run("INSERT INTO words VALUES('x')"); }),
                     Error);
      });
    }
    for (auto& thread : threads) thread.join();
  });
  EXPECT_EQ(count(), 0);
}

}  // namespace
}  // namespace threadstore::db
