// What must not grow: the -wal while everybody reads and writes, and the number of descriptors.
// THREADSTORE_LONG_TESTS=1 gives these tests the length of the promises.
#include <algorithm>
#include <fstream>
#include <thread>

#include "tests/process/store_fixture.h"

namespace threadstore::test {
namespace {

class BoundedGrowthTest : public StoreFixture {
 protected:
  /// The number behind the last line that starts with the word.
  static std::int64_t number_after(const std::vector<std::string>& lines, const std::string& word) {
    for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
      if (line->starts_with(word + " ")) return std::stoll(line->substr(word.size() + 1));
    }
    return -1;
  }

  static std::size_t open_descriptors() {
    const std::filesystem::directory_iterator table("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(table), end(table)));
  }
};

TEST_F(BoundedGrowthTest, TheWalStaysSmallUnderWritersAndBackToBackReaders) {
  // A message takes some 25 KB of WAL: without checkpoints and resets it would pass 90 MiB.
  const std::string messages = long_tests() ? "45000" : "1000";
  const auto store = open();
  const std::string wal = database().string() + "-wal";
  std::vector<Command> write(4), read(3);
  for (Command& command : write) {
    command = actor("append", {make_thread(store).str(), messages, "w"});
  }
  for (Command& command : read) command = actor("keep-reading", {make_thread(store).str()});
  ProcessSwarm writers(write), readers(read);
  readers.go();
  writers.go();
  std::uintmax_t largest = 0;
  for (bool writing = true; writing;) {
    writing = false;
    for (std::size_t i = 0; i < writers.size(); ++i) {
      const auto line = writers[i].read_line();
      if (!line) continue;
      EXPECT_TRUE(line->starts_with("stored ")) << *line;
      writing = true;
    }
    largest = std::max(largest, std::filesystem::file_size(wal));
  }
  writers.finish();
  readers.stop();
  for (const auto& lines : readers.finish()) EXPECT_GT(number_after(lines, "count"), 0);
  RecordProperty("largest_wal_bytes", std::to_string(largest));
  EXPECT_LT(largest, 64U << 20);
  expect_whole(store);
}

TEST_F(BoundedGrowthTest, WritersGetEqualShares) {
  const std::chrono::seconds length(long_tests() ? 5 : 3);
  const auto store = open();
  std::vector<Command> commands;
  for (int writer = 0; writer < 8; ++writer) {
    commands.push_back(actor("keep-appending", {make_thread(store).str()}));
  }
  ProcessSwarm swarm(commands);
  swarm.go();
  std::this_thread::sleep_for(length);
  swarm.stop();
  std::vector<std::int64_t> counts;
  for (const auto& lines : swarm.finish()) counts.push_back(number_after(lines, "count"));
  const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
  RecordProperty("least", static_cast<int>(*least));
  RecordProperty("most", static_cast<int>(*most));
  EXPECT_GE(static_cast<double>(*least), 0.8 * static_cast<double>(*most))
      << ::testing::PrintToString(counts);
}

TEST_F(BoundedGrowthTest, OpeningAndFailingToOpenLeaveNoDescriptorBehind) {
  const auto broken = folder_ / "broken.db";
  write_file(broken, std::string(8192, 'x'));
  const auto open_each = [&] {
    const auto store = open();
    const ThreadId thread = make_thread(store);
    store.messages().append(thread, {.role = "user", .content = "hello"});
    const auto lease = store.leases().acquire(LeaseKind::thread, thread.str(), "test");
    store.index()->entries();
    EXPECT_EQ(open({.mode = OpenMode::read_only}).messages().count(thread), 1);
    EXPECT_THROW(StateStore::open(broken), Error);
  };
  open_each();  // lock files of a path stay open for good: closing one would drop POSIX locks
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 100; ++i) open_each();
  EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace threadstore::test
