// Writers killed at random moments: what was acknowledged is there, and nothing is half there.
#include <signal.h>

#include <map>
#include <random>
#include <sstream>

#include "tests/process/store_fixture.h"

namespace threadstore::test {
namespace {

constexpr std::size_t kWriters = 4;

/// What the writers were told is durable.
struct Acknowledged {
  std::map<MessageId, std::string> own;  ///< contents by id
  std::map<MessageId, std::string> shared;
  std::optional<std::string> name;  ///< the last one

  void take(const std::string& line) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "named") {
      words >> name.emplace();
      return;
    }
    std::int64_t id = 0;
    std::string content;
    words >> id >> content;
    (kind == "own" ? own : shared)[static_cast<MessageId>(id)] = content;
  }
};

class KillTest : public StoreFixture {
 protected:
  /// One round: all write until the one with `victim` has got `lines` acknowledgements; then every
  /// one is killed, wherever it is.
  std::vector<Acknowledged> write_and_kill(const std::string& round, std::size_t victim,
                                           int lines) {
    std::vector<Command> commands;
    for (std::size_t i = 0; i < kWriters; ++i) {
      commands.push_back(
          actor("write", {own_[i].str(), shared_.str(), "r" + round + "w" + std::to_string(i)}));
    }
    ProcessSwarm swarm(commands);
    swarm.go();
    std::vector<Acknowledged> acknowledged(kWriters);
    for (; lines > 0; --lines) {
      const auto line = swarm[victim].read_line();
      if (!line || line->starts_with("error")) {
        ADD_FAILURE() << "a writer ended by itself: " << line.value_or("(silent)");
        return acknowledged;
      }
      acknowledged[victim].take(*line);
    }
    swarm.kill(SIGKILL);
    for (std::size_t i = 0; i < kWriters; ++i) {
      for (const std::string& line : read_lines(swarm[i])) acknowledged[i].take(line);
      EXPECT_EQ(swarm[i].wait(), 128 + SIGKILL);
    }
    return acknowledged;
  }

  /// Every acknowledged message is where it was put, with its text.
  static void expect_stored(const StateStore& store, const ThreadId& thread,
                            const std::map<MessageId, std::string>& acknowledged) {
    for (const auto& [id, content] : acknowledged) {
      const auto message = store.messages().find(thread, id);
      ASSERT_TRUE(message) << "message " << id << " is lost";
      EXPECT_EQ(message->content, content);
    }
  }

  /// The count at the end of a writer's word "r7w2-13".
  static int number_in(const std::string& word) {
    return std::stoi(word.substr(word.rfind('-') + 1));
  }

  std::vector<ThreadId> own_;
  ThreadId shared_;
};

TEST_F(KillTest, WhatWasAcknowledgedSurvivesWritersKilledAtAnyMoment) {
  {
    const auto store = open();
    for (std::size_t i = 0; i < kWriters; ++i) own_.push_back(make_thread(store));
    shared_ = make_thread(store);
  }
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto rounds = long_tests() ? 500 : 50;
  std::int64_t messages = 0;
  for (int round = 0; round < rounds && !HasFailure(); ++round) {
    const auto acknowledged =
        write_and_kill(std::to_string(round), random() % kWriters, static_cast<int>(random() % 40));
    const auto store = open();  // mends what the dead left: the index lines that they owed
    for (std::size_t i = 0; i < kWriters; ++i) {
      expect_stored(store, own_[i], acknowledged[i].own);
      expect_stored(store, shared_, acknowledged[i].shared);
      // A message that was stored but not acknowledged may be there; a name likewise.
      const Thread thread = store.threads().get(own_[i]);
      if (acknowledged[i].name) {
        EXPECT_GE(number_in(*thread.name), number_in(*acknowledged[i].name));
      }
      messages += static_cast<std::int64_t>(acknowledged[i].own.size());
    }
    EXPECT_EQ(store.messages().leaves(shared_).size(), 1U);
    if (round % 10 == 9) expect_whole(store);
  }
  EXPECT_GT(messages, 0);
}

}  // namespace
}  // namespace threadstore::test
