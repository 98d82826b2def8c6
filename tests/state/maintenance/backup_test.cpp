#include <sys/stat.h>

#include <fstream>

#include "base/sha256.h"
#include "tests/state/maintenance/store_files.h"
#include "tests/state/threads/records_test.h"
#include "tests/support/process_swarm.h"

namespace threadstore::test {
namespace {

class BackupTest : public RecordsTest {
 protected:
  BackupTest() { fs::create_directory(backups); }

  std::string append(const std::string& text) {
    store.messages().append(thread, {.role = "user", .content = text});
    return text;
  }

  fs::path backups = dir / "backups";
  fs::path backup = backups / "b";
  ThreadId thread = make_thread("t1");
};

TEST_F(BackupTest, ABackupIsOnePrivateFileWithEverythingThatWasStored) {
  append("one");
  append("two");
  std::int64_t pages = 0;
  const Backup done = store.backup(
      backup, {.progress = [&](std::int64_t copied, std::int64_t) { pages = copied; }});
  append("later");
  EXPECT_EQ(names_in(backups), std::vector<std::string>{"b"});
  struct stat status {};
  ASSERT_EQ(::stat(backup.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0600U);
  EXPECT_EQ(done.file, backup);
  EXPECT_EQ(done.bytes, status.st_size);
  EXPECT_EQ(done.sha256, base::sha256_of_file(backup));
  EXPECT_TRUE(done.findings.empty());
  const StateStore copy = StateStore::open(backup, {.mode = OpenMode::read_only});
  EXPECT_EQ(contents(copy, thread), (std::vector<std::string>{"one", "two"}));
}

TEST_F(BackupTest, TheSha256IsTheOneThatEverybodyKnows) {
  write_text(backup, "abc");
  EXPECT_EQ(base::sha256_of_file(backup),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_F(BackupTest, AFileThatIsThereStaysUnlessItIsToBeReplaced) {
  write_text(backup, "mine");
  EXPECT_THAT(error_of([&] { store.backup(backup); }), ::testing::StartsWith("conflict: "));
  std::string kept;
  std::getline(std::ifstream(backup), kept);
  EXPECT_EQ(kept, "mine");
  store.backup(backup, {.overwrite = true});
  EXPECT_TRUE(StateStore::open(backup, {.mode = OpenMode::read_only}).threads().find(thread));
}

TEST_F(BackupTest, WhatCannotBeBackedUpIsRefusedAndLeavesNothing) {
  EXPECT_THAT(error_of([&] { store.backup(file, {.overwrite = true}); }),
              ::testing::StartsWith("invalid_argument: "));
  EXPECT_THAT(error_of([&] { store.transaction([&] { store.backup(backup); }); }),
              ::testing::StartsWith("invalid_argument: "));
  EXPECT_THAT(error_of([&] { StateStore::in_memory().backup(backup); }),
              ::testing::StartsWith("invalid_argument: "));
  EXPECT_THAT(
      error_of([&] { store.backup(dir / "nowhere" / "b"); }),
      ::testing::AllOf(::testing::StartsWith("io: "), ::testing::HasSubstr("there is no directory"),
                       ::testing::Not(::testing::HasSubstr(".tmp"))));
  EXPECT_EQ(names_in(backups), std::vector<std::string>{});
}

TEST_F(BackupTest, ADamagedMessageIsCopiedAndTold) {
  append("one");
  other.run("UPDATE messages SET content = 'two'");
  const Backup done = store.backup(backup);
  ASSERT_EQ(done.findings.size(), 1u);
  EXPECT_EQ(done.findings[0].name, "messages");
}

TEST_F(BackupTest, ABrokenStoreIsNamedSoAndNotBackedUp) {
  for (int i = 0; i < 200; ++i) append(std::string(300, 'x'));
  const fs::path broken = backups / "broken.db";
  store.backup(broken);
  {
    std::fstream out(broken, std::ios::in | std::ios::out | std::ios::binary);
    out.seekp(std::stoll(other.ask("SELECT rootpage FROM sqlite_master WHERE name = 'messages'")) *
                  4096 -
              4096);
    out << std::string(4096, '\xff');
  }
  const StateStore opened = StateStore::open(broken, {.mode = OpenMode::read_only});
  EXPECT_THAT(error_of([&] { opened.backup(backup); }),
              ::testing::AllOf(::testing::StartsWith("damaged: "),
                               ::testing::Not(::testing::HasSubstr("could not be made"))));
  EXPECT_FALSE(fs::exists(backup));
  for (const Check& check : opened.check()) {
    if (check.name != "integrity") continue;
    EXPECT_EQ(check.status, CheckStatus::failed);
    EXPECT_THAT(check.advice, ::testing::HasSubstr("salvage"));
  }
}

TEST_F(BackupTest, ABackupDuringASwarmIsAPrefixOfEveryThreadsHistory) {
  std::vector<ThreadId> threads;
  std::vector<std::vector<std::string>> commands;
  for (int i = 0; i < 3; ++i) {
    threads.push_back(make_thread("w" + std::to_string(i)));
    commands.push_back({STORE_USER, file, "write", threads.back().str()});
  }
  ProcessSwarm swarm(commands);
  swarm.go();
  for (int round = 0; round < 5; ++round) {
    const fs::path copy = backups / std::to_string(round);
    EXPECT_TRUE(store.backup(copy).findings.empty());
    const StateStore taken = StateStore::open(copy, {.mode = OpenMode::read_only});
    for (const ThreadId& writer : threads) {
      std::vector<std::string> expected;
      const auto found = contents(taken, writer);
      for (std::size_t i = 0; i < found.size(); ++i) expected.push_back(std::to_string(i + 1));
      EXPECT_EQ(found, expected);
    }
  }
  swarm.stop();
  swarm.finish();
}

}  // namespace
}  // namespace threadstore::test
