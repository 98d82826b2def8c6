// Backups that are taken while eight processes write: each opens clean, and holds the history up to
// one moment, without a gap.
//
//   THREADSTORE_LONG_TESTS=1    20 backups of a longer swarm instead of 4
#include <gmock/gmock.h>

#include "tests/process/store_fixture.h"

namespace threadstore::test {
namespace {

constexpr std::size_t kWriters = 8;

using History = std::vector<std::pair<MessageId, std::string>>;

class BackupSwarmTest : public StoreFixture {
 protected:
  /// Ids and texts of all messages up to `last`, in the order of their commits.
  static History history(const StateStore& store, MessageId last) {
    History all;
    for (MessageId seen{};;) {
      const auto page = store.messages().since({}, seen);
      if (page.empty()) return all;
      for (const Message& message : page) {
        seen = message.id;
        if (message.id <= last) all.emplace_back(message.id, message.content);
      }
    }
  }

  static std::vector<std::string> failed_checks(const StateStore& store) {
    std::vector<std::string> failed;
    for (const Check& check : store.check()) {
      // The index is not part of a backup.
      if (check.status == CheckStatus::failed && check.name != "index") {
        failed.push_back(check.name + ": " + check.detail);
      }
    }
    return failed;
  }

  std::filesystem::path copy(int number) const {
    return folder_ / ("copy" + std::to_string(number)) / "state.db";
  }
};

TEST_F(BackupSwarmTest, ABackupIsAPrefixOfTheHistoryWhateverIsWrittenMeanwhile) {
  const int backups = long_tests() ? 20 : 4;
  const auto store = open();
  std::vector<Command> commands;
  for (std::size_t i = 0; i < kWriters; ++i) {
    commands.push_back(
        actor("write", {make_thread(store, "own").str(), make_thread(store, "shared").str(),
                        "r0w" + std::to_string(i)}));
  }
  ProcessSwarm writers(commands);
  writers.go();
  std::vector<std::pair<MessageId, MessageId>> bounds;  // the newest before and after the backup
  for (int i = 0; i < backups; ++i) {
    for (std::size_t writer = 0; writer < kWriters; ++writer) {
      ASSERT_TRUE(writers[writer].read_line());  // each gets on between two backups
    }
    std::filesystem::create_directory(copy(i).parent_path());
    const MessageId before = store.messages().newest_id();
    const Backup made = store.backup(copy(i));
    bounds.emplace_back(before, store.messages().newest_id());
    EXPECT_THAT(made.findings, testing::IsEmpty());
  }
  writers.kill(SIGKILL);
  for (std::size_t i = 0; i < kWriters; ++i) writers[i].wait();

  for (int i = 0; i < backups; ++i) {
    EXPECT_FALSE(std::filesystem::exists(copy(i).string() + "-wal"));
    const auto backup = StateStore::open(copy(i), {.mode = OpenMode::read_only});
    EXPECT_THAT(failed_checks(backup), testing::IsEmpty());
    const MessageId last = backup.messages().newest_id();
    EXPECT_GE(last, bounds[static_cast<std::size_t>(i)].first);
    EXPECT_LE(last, bounds[static_cast<std::size_t>(i)].second);
    EXPECT_EQ(history(backup, last), history(store, last));
  }
  // They were taken while the swarm wrote, not after it.
  EXPECT_LT(bounds.front().second, bounds.back().first);
}

}  // namespace
}  // namespace threadstore::test
