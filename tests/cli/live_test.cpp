// What only a running program shows: watch, signals, readers that go away.

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/child_process.h"
#include "tests/support/temp_dir.h"
#include "threadstore/state_store.h"

namespace threadstore::test {
namespace {

class LiveTest : public testing::Test {
 protected:
  std::vector<std::string> threadstore(std::vector<std::string> arguments) const {
    std::vector<std::string> command{THREADSTORE_PROGRAM, "--home", directory_.path().string()};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return command;
  }

  std::vector<std::string> shell(const std::string& script) const {
    return {"/bin/bash", "-c",
            "threadstore() { " THREADSTORE_PROGRAM " --home '" + directory_.path().string() +
                "' \"$@\"; }\n" + script};
  }

  StateStore store() const { return StateStore::open(directory_ / "state.db"); }

  TempDir directory_;
};

std::string content_of(const std::optional<std::string>& line) {
  return nlohmann::json::parse(line.value_or("{}")).value("content", "");
}

TEST_F(LiveTest, WatchPrintsWhatOthersCommitAndEndsWith130AtCtrlC) {
  const ThreadId thread = store().threads().create({}).thread.id;
  ChildProcess watch(threadstore({"watch", "--json"}));
  // Until it is ready nothing may be missed of what comes later: messages are stored until one
  // shows.
  std::optional<std::string> seen;
  std::string last;
  for (int i = 0; !seen && i < 300; ++i) {
    last = "message " + std::to_string(i);
    store().messages().append(thread, {.role = "user", .content = last});
    try {
      seen = watch.read_line(std::chrono::seconds(1));
    } catch (const std::exception&) {
    }
  }
  const std::string first = content_of(seen);
  EXPECT_EQ(first.substr(0, 8), "message ");
  const auto after = std::stoi(first.substr(8)) + 1;
  for (int i = after; "message " + std::to_string(i - 1) != last; ++i) {
    EXPECT_EQ(content_of(watch.read_line()), "message " + std::to_string(i));
  }
  watch.kill(SIGINT);
  EXPECT_EQ(watch.wait(), 130);
}

TEST_F(LiveTest, WatchMayStartBeforeTheStoreExists) {
  ChildProcess watch(shell("exec 2>&1; threadstore watch --json"));
  EXPECT_NE(watch.read_line().value_or("").find("waiting"), std::string::npos);
  const ThreadId thread = store().threads().create({}).thread.id;
  store().messages().append(thread, {.role = "user", .content = "first"});
  EXPECT_EQ(content_of(watch.read_line()), "first");
  store().messages().append(thread, {.role = "user", .content = "second"});
  EXPECT_EQ(content_of(watch.read_line()), "second");
}

TEST_F(LiveTest, RunTailFollowsTheRunsOfAnyProcess) {
  ChildProcess tail(shell("exec 2>&1; threadstore --workspace w run tail --follow --json"));
  EXPECT_NE(tail.read_line().value_or("").find("waiting"), std::string::npos);
  Runs runs = store().runs("w");
  const RunId run = runs.create({.agent_name = "a", .agent_version = "1", .model = "m"}).id;
  const auto type_of = [](const std::optional<std::string>& line) {
    return nlohmann::json::parse(line.value_or("{}")).value("event_type", "");
  };
  EXPECT_EQ(type_of(tail.read_line()), "run.started");
  store().runs("other").create({.agent_name = "a", .agent_version = "1", .model = "m"});
  runs.log().append(run, "note.x");
  EXPECT_EQ(type_of(tail.read_line()), "note.x");
}

TEST_F(LiveTest, WatchEndsWhenNobodyReadsAnyMore) {
  store().threads().create({});
  ChildProcess pipeline(shell("threadstore watch 2>&1 1> >(exec true); echo \"ended with $?\""));
  EXPECT_EQ(pipeline.read_line(), "ended with 0");
}

TEST_F(LiveTest, AReaderThatGoesAwayEndsTheProgramQuietly) {
  const ThreadId thread = store().threads().create({.name = "long"}).thread.id;
  store().messages().append(thread, {.role = "user", .content = std::string(1'000'000, 'x')});
  ChildProcess pipeline(
      shell("threadstore show long 2>&1 | head -c 1 >/dev/null; echo \"${PIPESTATUS[0]}\""));
  EXPECT_EQ(pipeline.read_line(), "0");
}

TEST_F(LiveTest, MessagesOfTheDeadlineNameWhoHoldsTheLock) {
  const StateStore held = store();
  held.threads().create({.name = "held"});
  held.transaction([&] {
    ChildProcess other(shell("threadstore new --wait 0.2 2>&1; echo \"$?\""));
    const std::string message = other.read_line().value_or("");
    EXPECT_NE(message.find(std::to_string(::getpid())), std::string::npos) << message;
    std::string code;
    while (const auto line = other.read_line()) code = *line;
    EXPECT_EQ(code, "5");
  });
}

}  // namespace
}  // namespace threadstore::test
