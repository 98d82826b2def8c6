// Many processes on one store at once: nothing fails, nothing is lost, nothing is there twice.
#include <algorithm>
#include <map>
#include <set>

#include "tests/process/store_fixture.h"

namespace threadstore::test {
namespace {

constexpr int kProcesses = 8;
constexpr int kAppends = 500;

class SwarmTest : public StoreFixture {
 protected:
  /// Eight processes with 500 appends each, every one to its thread. Checks the acknowledgements.
  void append_from_all(const std::vector<ThreadId>& threads) const {
    std::vector<Command> commands;
    for (int process = 0; process < kProcesses; ++process) {
      const auto& thread = threads.at(static_cast<std::size_t>(process) % threads.size());
      commands.push_back(actor("append", {thread.str(), std::to_string(kAppends), word(process)}));
    }
    ProcessSwarm swarm(commands);
    swarm.go();
    std::set<std::string> acknowledged;
    for (const auto& lines : swarm.finish()) acknowledged.insert(lines.begin(), lines.end());
    EXPECT_EQ(acknowledged.size(), kProcesses * kAppends);
  }

  static std::string word(int process) { return "p" + std::to_string(process); }

  /// The contents of the active branch, which must be one chain from a root.
  static std::vector<std::string> chain(const StateStore& store, const ThreadId& thread) {
    std::vector<std::string> contents;
    std::optional<MessageId> parent;
    for (const Message& message : store.messages().list(thread, {.limit = 100'000}).messages) {
      EXPECT_EQ(message.parent_entry_id, parent);
      parent = message.id;
      contents.push_back(message.content);
    }
    return contents;
  }
};

TEST_F(SwarmTest, EightProcessesAppendToThreadsOfTheirOwn) {
  const auto store = open();
  std::vector<ThreadId> threads;
  for (int process = 0; process < kProcesses; ++process) threads.push_back(make_thread(store));
  append_from_all(threads);
  for (int process = 0; process < kProcesses; ++process) {
    std::vector<std::string> expected;
    for (int i = 0; i < kAppends; ++i) expected.push_back(word(process) + " " + std::to_string(i));
    EXPECT_EQ(chain(store, threads[static_cast<std::size_t>(process)]), expected);
  }
  expect_whole(store);
}

TEST_F(SwarmTest, EightProcessesAppendToOneThreadAndMakeOneChain) {
  const auto store = open();
  const ThreadId shared = make_thread(store);
  append_from_all({shared});
  const std::vector<std::string> contents = chain(store, shared);
  EXPECT_EQ(contents.size(), kProcesses * kAppends);
  EXPECT_EQ(store.messages().count(shared), kProcesses * kAppends);
  EXPECT_EQ(store.messages().leaves(shared).size(), 1U);
  // Each process's messages are there once, in the order in which it wrote them.
  std::map<std::string, int> next;
  for (const std::string& content : contents) {
    const std::size_t space = content.find(' ');
    EXPECT_EQ(content.substr(space + 1), std::to_string(next[content.substr(0, space)]++));
  }
  EXPECT_EQ(next.size(), kProcesses);
  expect_whole(store);
}

TEST_F(SwarmTest, EightProcessesOpenANewStoreAtOnce) {
  for (int round = 0; round < 20; ++round) {
    const TempDir folder;
    const auto file = folder / "state.db";
    ProcessSwarm swarm(std::vector<Command>(kProcesses, actor_on(file, "make")));
    swarm.go();
    std::set<std::string> made;
    for (const auto& lines : swarm.finish()) made.insert(lines.begin(), lines.end());
    EXPECT_EQ(made.size(), kProcesses);
    const auto store = StateStore::open(file);
    EXPECT_EQ(store.threads().count(), kProcesses);
    EXPECT_EQ(plain_query(file, "PRAGMA user_version"), std::vector<std::string>{"5"});
    EXPECT_EQ(plain_query(file, "PRAGMA journal_mode"), std::vector<std::string>{"wal"});
    expect_whole(store);
  }
}

class ExpectedLeafSwarmTest : public SwarmTest {
 protected:
  /// All processes saw the same leaf, and write under it at once.
  std::vector<std::string> append_expecting(const ThreadId& thread, MessageId leaf,
                                            const std::string& on_conflict) const {
    std::vector<Command> commands;
    for (int process = 0; process < kProcesses; ++process) {
      commands.push_back(actor("append-expecting", {thread.str(), std::to_string(to_int(leaf)),
                                                    on_conflict, word(process)}));
    }
    ProcessSwarm swarm(commands);
    swarm.go();
    std::vector<std::string> answers;
    for (const auto& lines : swarm.finish()) {
      const std::string& line = lines.at(0);
      answers.push_back(line.substr(line.rfind(' ') + 1));
    }
    std::sort(answers.begin(), answers.end());
    return answers;
  }
};

TEST_F(ExpectedLeafSwarmTest, OneWinsAndTheOthersLearnOfTheConflict) {
  const auto store = open();
  const ThreadId thread = make_thread(store);
  const auto root = store.messages().append(thread, {.role = "user", .content = "root"}).id;
  std::vector<std::string> expected(kProcesses - 1, "conflict");
  expected.emplace_back("straight");
  EXPECT_EQ(append_expecting(thread, root, "fail"), expected);
  EXPECT_EQ(store.messages().count(thread), 2);
}

TEST_F(ExpectedLeafSwarmTest, OneWinsAndTheOthersBecomeBranches) {
  const auto store = open();
  const ThreadId thread = make_thread(store);
  const auto root = store.messages().append(thread, {.role = "user", .content = "root"}).id;
  std::vector<std::string> expected(kProcesses - 1, "branched");
  expected.emplace_back("straight");
  EXPECT_EQ(append_expecting(thread, root, "branch"), expected);
  std::set<std::string> contents;
  for (const Message& message : store.messages().children(thread, root)) {
    contents.insert(message.content);
  }
  EXPECT_EQ(contents.size(), kProcesses);
  // The leaf is the one that won: the first by id, since it was committed first.
  EXPECT_EQ(store.threads().get(thread).current_leaf_id,
            store.messages().children(thread, root).front().id);
}

}  // namespace
}  // namespace threadstore::test
