// What only a running import shows: its bar, its end by kill -9, others that write meanwhile.

#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>

#include "tests/cli/chat_program.h"
#include "tests/support/child_process.h"
#include "tests/support/temp_dir.h"

namespace threadstore::test {
namespace {

constexpr const char* kSession = "01990000-0000-7000-8000-000000000001";
constexpr int kMessages = 40'000;  // more than a batch, more than a bar's first 300 ms

class ImportLiveTest : public testing::Test {
 protected:
  ImportLiveTest() {
    std::ofstream file(session_);
    file << R"({"type":"session","version":3,"id":")" << kSession << R"(","cwd":"/w"})" << '\n';
    for (int i = 1; i <= kMessages; ++i) {
      file << R"({"type":"message","id":"m)" << i << R"(","parentId":)"
           << (i == 1 ? "null" : "\"m" + std::to_string(i - 1) + '"')
           << R"(,"message":{"role":"user","content":"message )" << i << R"("}})" << '\n';
    }
  }

  std::vector<std::string> command() const {
    return {THREADSTORE_PROGRAM, "--home", home_.string(), "import", session_.string()};
  }

  /// All of the session is there, once and in order.
  void expect_whole() const {
    const StateStore store = open_store(home_);
    const ThreadId thread(kSession);
    EXPECT_EQ(store.messages().count(thread), kMessages + 1);
    const auto leaves = store.messages().leaves(thread);
    ASSERT_EQ(leaves.size(), 1u);
    const auto leaf = store.messages().get(thread, leaves[0].id);
    EXPECT_EQ(leaf.content, "message " + std::to_string(kMessages));
    EXPECT_EQ(store.threads().get(thread).current_leaf_id, leaf.id);
  }

  TempDir dir_;
  const std::filesystem::path home_ = dir_ / "home";
  const std::filesystem::path session_ = dir_ / "session.jsonl";
};

TEST_F(ImportLiveTest, ABarShowsFilesAndMessagesAndGoesAway) {
  TerminalProgram import(command());
  import.expect("importing 0/1 file, ");
  import.expect(" messages [");
  import.expect("imported 1 thread and 40001 messages from 1 file");
  EXPECT_EQ(import.wait(), 0);
  const std::string& shown = import.transcript();
  const std::size_t end = shown.rfind("imported 1 thread");
  EXPECT_EQ(shown.substr(end - 4, 4), "\r\x1b[K") << "the bar's line is cleared before the report";
  expect_whole();
}

TEST_F(ImportLiveTest, QuietShowsNoBar) {
  auto quiet = command();
  quiet.insert(quiet.begin() + 3, "--quiet");
  TerminalProgram import(quiet);
  EXPECT_EQ(import.wait(), 0);
  EXPECT_EQ(import.transcript().find("importing"), std::string::npos);
}

TEST_F(ImportLiveTest, OneThatWasKilledIsFinishedByTheNext) {
  const auto stored = [&] {
    const StateStore store = open_store(home_);
    return store.threads().find(ThreadId(kSession)) ? store.messages().count(ThreadId(kSession))
                                                    : 0;
  };
  std::int64_t before = 0;
  for (int round = 0; round < 3; ++round) {
    ChildProcess import(command());
    while (stored() == before) {
    }
    import.kill(SIGKILL);
    import.wait();
    before = stored();
    ASSERT_GT(before, 0);
  }
  EXPECT_LT(before, kMessages) << "killed too late to show anything";
  ChildProcess import(command());
  EXPECT_EQ(import.wait(), 0);
  expect_whole();
}

TEST_F(ImportLiveTest, OthersWriteMeanwhile) {
  StateStore store = open_store(home_);
  const ThreadId mine = store.threads().create({.name = "mine"}).thread.id;
  ChildProcess import(command());
  int written = 0;
  while (store.messages().newest_id() < MessageId{kMessages + 1}) {
    store.messages().append(mine, {.role = "user", .content = std::to_string(++written)});
  }
  EXPECT_EQ(import.wait(), 0);
  EXPECT_GT(written, 10);
  EXPECT_EQ(store.messages().count(mine), written);
  EXPECT_EQ(store.messages().leaves(mine).size(), 1u);
  expect_whole();
}

}  // namespace
}  // namespace threadstore::test
