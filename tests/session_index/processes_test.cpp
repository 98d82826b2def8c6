// Several processes on one index.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/support/child_process.h"
#include "tests/support/temp_dir.h"
#include "threadstore/session_index.h"

namespace threadstore {
namespace {

using std::string;
using test::ChildProcess;
using test::TempDir;

std::unique_ptr<ChildProcess> start(std::vector<string> arguments) {
  arguments.insert(arguments.begin(), INDEX_ACTOR);
  auto actor = std::make_unique<ChildProcess>(arguments);
  EXPECT_EQ(actor->read_line(), "ready");
  return actor;
}

TEST(SessionIndexProcessesTest, NoAppendIsLostWhileOthersAppendAndCompact) {
  const TempDir dir;
  const string file = dir / "session_index.jsonl";
  constexpr int writers = 4;
  constexpr int count = 50;
  std::vector<std::unique_ptr<ChildProcess>> actors;
  for (int i = 0; i < writers; ++i) {
    actors.push_back(start({"append", file, "w" + std::to_string(i), std::to_string(count)}));
  }
  auto compactor = start({"compact", file});
  compactor->write_line("go");
  for (const auto& actor : actors) actor->write_line("go");
  for (const auto& actor : actors) EXPECT_EQ(actor->wait(), 0);
  compactor->close_input();
  EXPECT_EQ(compactor->wait(), 0);

  const SessionIndex index(file);
  EXPECT_EQ(index.stats().threads, writers * count);
  EXPECT_EQ(index.stats().skipped_lines, 0);
  for (const IndexEntry& entry : index.entries()) {
    EXPECT_EQ(entry.thread_name, "last " + entry.thread_id.str());
  }
}

TEST(SessionIndexProcessesTest, WhatWasAcknowledgedSurvivesKill) {
  const TempDir dir;
  const string file = dir / "session_index.jsonl";
  std::vector<string> acknowledged;
  for (int round = 0; round < 10; ++round) {
    auto writer = start({"append", file, "r" + std::to_string(round), "1000000"});
    auto compactor = start({"compact", file});
    compactor->write_line("go");
    writer->write_line("go");
    // Killed after another number of entries each time, wherever it is by then.
    for (int i = 0; i <= round; ++i) acknowledged.push_back(writer->read_line().value());
    compactor->kill(SIGKILL);
    writer->kill(SIGKILL);
    EXPECT_EQ(writer->wait(), 128 + SIGKILL);
    EXPECT_EQ(compactor->wait(), 128 + SIGKILL);
    // The rest of its output; its last line may be cut off.
    for (auto line = writer->read_line(); line;) {
      const auto next = writer->read_line();
      if (next) acknowledged.push_back(*line);
      line = next;
    }
  }
  SessionIndex index(file);
  for (const string& id : acknowledged) {
    const auto entry = index.find(ThreadId(id));
    ASSERT_TRUE(entry) << id;
    EXPECT_EQ(entry->thread_name, "last " + id);
  }
  index.compact();
  EXPECT_EQ(index.stats().skipped_lines, 0);
}

}  // namespace
}  // namespace threadstore
