// Writers killed at random moments: what was acknowledged is there, and nothing is half there.
//
//   THREADSTORE_LONG_TESTS=1      500 rounds instead of 40
//   THREADSTORE_KILL_ROUNDS=N     so many rounds
#include <gmock/gmock.h>
#include <signal.h>

#include <cstdlib>
#include <random>

#include "tests/process/history.h"
#include "tests/process/store_fixture.h"

namespace threadstore::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::size_t kWriters = 4;

int rounds() {
  const char* wanted = std::getenv("THREADSTORE_KILL_ROUNDS");
  if (wanted != nullptr && *wanted != '\0') return std::atoi(wanted);
  return long_tests() ? 500 : 40;
}

class KillTest : public StoreFixture {
 protected:
  KillTest() {
    const auto store = open();
    for (std::size_t i = 0; i < kWriters; ++i) own_.push_back(make_thread(store));
    shared_ = make_thread(store);
    history_.emplace(own_, shared_);
  }

  /// One round: all write until the one with `victim` has got `lines` acknowledgements; then every
  /// one is killed, wherever it is.
  void write_and_kill(int round, std::size_t victim, int lines) {
    std::vector<Command> commands;
    for (std::size_t i = 0; i < kWriters; ++i) {
      commands.push_back(actor("write", {own_[i].str(), shared_.str(),
                                         "r" + std::to_string(round) + "w" + std::to_string(i)}));
    }
    ProcessSwarm swarm(commands);
    swarm.go();
    for (; lines > 0; --lines) {
      const auto line = swarm[victim].read_line();
      if (!line || line->starts_with("error")) {
        ADD_FAILURE() << "a writer ended by itself: " << line.value_or("(silent)");
        return;
      }
      history_->acknowledge(victim, *line);
    }
    swarm.kill(SIGKILL);
    for (std::size_t i = 0; i < kWriters; ++i) {
      for (const std::string& line : read_lines(swarm[i])) history_->acknowledge(i, line);
      EXPECT_EQ(swarm[i].wait(), 128 + SIGKILL);
    }
  }

  std::vector<ThreadId> own_;
  ThreadId shared_;
  std::optional<History> history_;
};

TEST_F(KillTest, WhatWasAcknowledgedSurvivesWritersKilledAtAnyMoment) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < rounds() && !HasFailure(); ++round) {
    write_and_kill(round, random() % kWriters, static_cast<int>(random() % 40));
    const auto store = open();  // mends what the dead left: the index lines that they owed
    EXPECT_THAT(history_->violations(store), IsEmpty());
    if (round % 10 == 9) expect_whole(store);
  }
  EXPECT_GT(history_->size(), 0U);
}

/// The judge of the test above, and of the real power cuts, is judged itself: a history with three
/// messages in two threads, and one thing of it that goes wrong.
class HistoryTest : public KillTest {
 protected:
  HistoryTest() {
    const auto store = open();
    for (int i = 0; i < 3; ++i) {
      const std::string word = "r0w0-" + std::to_string(i);
      for (const auto& [kind, thread] : {std::pair("own", own_[0]), std::pair("shared", shared_)}) {
        const auto stored = store.messages().append(thread, {.role = "user", .content = word});
        history_->acknowledge(
            0, std::string(kind) + " " + std::to_string(to_int(stored.id)) + " " + word);
      }
      store.threads().rename(own_[0], word);
      history_->acknowledge(0, "named " + word);
    }
  }

  std::vector<std::string> violations_after(const std::string& sql) {
    plain_query(database(), sql);
    return history_->violations(open());
  }
};

TEST_F(HistoryTest, AHistoryThatWasKeptHasNoViolations) {
  EXPECT_EQ(history_->size(), 6U);
  EXPECT_THAT(history_->violations(open()), IsEmpty());
}

TEST_F(HistoryTest, ALostAcknowledgedMessageIsReported) {
  // As if the last append had never been: message, leaf and all.
  EXPECT_THAT(violations_after("UPDATE threads SET current_leaf_id = 4 WHERE current_leaf_id = 6;"
                               "DELETE FROM messages WHERE id = 6"),
              ElementsAre(HasSubstr("message 6 (r0w0-2) was acknowledged and is lost")));
}

TEST_F(HistoryTest, AMessageThatIsStoredTwiceIsReported) {
  EXPECT_THAT(
      violations_after("INSERT INTO messages(thread_id, role, content, created_at, parent_entry_id)"
                       " SELECT thread_id, role, content, created_at, 6 FROM messages WHERE id = 6;"
                       "UPDATE threads SET current_leaf_id = 7 WHERE current_leaf_id = 6"),
      ElementsAre(HasSubstr("message 7 is r0w0-2 where r0w0-3 was to come")));
}

TEST_F(HistoryTest, AMessageInTheMiddleThatIsLostIsReported) {
  EXPECT_THAT(violations_after("DELETE FROM messages WHERE id = 3;"
                               "UPDATE messages SET parent_entry_id = 1 WHERE id = 5"),
              ElementsAre(HasSubstr("message 5 is r0w0-2 where r0w0-1 was to come"),
                          HasSubstr("message 3 (r0w0-1) was acknowledged and is lost")));
}

TEST_F(HistoryTest, AParentThatIsNotTheMessageBeforeIsReported) {
  EXPECT_THAT(violations_after("UPDATE messages SET parent_entry_id = 2 WHERE id = 5"),
              ElementsAre(HasSubstr("message 5 has the parent 2 and not 3")));
}

TEST_F(HistoryTest, AnotherTextIsReported) {
  EXPECT_THAT(violations_after("UPDATE messages SET content = 'r0w9-0' WHERE id = 6"),
              ElementsAre(HasSubstr("message 6 was acknowledged as r0w0-2 and is r0w9-0")));
}

TEST_F(HistoryTest, ALeafThatFellBackIsReported) {
  EXPECT_THAT(
      violations_after("UPDATE threads SET current_leaf_id = 3 WHERE id = '" + own_[0].str() + "'"),
      ElementsAre(HasSubstr("its leaf is 3 and not its last message 5")));
}

TEST_F(HistoryTest, ANameThatFellBackIsReported) {
  EXPECT_THAT(
      violations_after("UPDATE threads SET title = 'r0w0-1' WHERE id = '" + own_[0].str() + "'"),
      ElementsAre(HasSubstr("its name is r0w0-1 after r0w0-2 was acknowledged")));
}

}  // namespace
}  // namespace threadstore::test
