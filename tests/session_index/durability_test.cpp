// In which order the index reaches the disk, what it costs, and what happens when the disk refuses.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/support/child_process.h"
#include "tests/support/recording_system.h"
#include "tests/support/temp_dir.h"
#include "threadstore/error.h"
#include "threadstore/session_index.h"

namespace threadstore {
namespace {

using std::string;
using test::ChildProcess;
using test::read_file;
using test::RecordingSystem;
using test::TempDir;
using test::write_file;
using testing::ElementsAre;

IndexEntry entry(const string& id) {
  return {.thread_id = ThreadId(id), .thread_name = "name of " + id, .updated_at = 1};
}

mode_t mode_of(const std::filesystem::path& file) {
  struct stat status {};
  EXPECT_EQ(::stat(file.c_str(), &status), 0) << file;
  return status.st_mode & 07777;
}

class SessionIndexDurabilityTest : public testing::Test {
 protected:
  TempDir dir;
  string dir_name = dir.path().filename();
  std::filesystem::path file = dir / "session_index.jsonl";
  SessionIndexOptions quick{.deadline = std::chrono::milliseconds(30)};
};

TEST_F(SessionIndexDurabilityTest, AnAppendIsOneWriteAndOneSync) {
  RecordingSystem system;
  const base::SystemOverride use(system);
  SessionIndex index(file);
  index.append(entry("a"));
  EXPECT_THAT(system.calls, ElementsAre("sync " + dir_name, "write session_index.jsonl",
                                        "datasync session_index.jsonl"));
  system.calls.clear();
  index.append({entry("b"), entry("c")});
  EXPECT_THAT(system.calls,
              ElementsAre("write session_index.jsonl", "datasync session_index.jsonl"));
}

TEST_F(SessionIndexDurabilityTest, LatestLinesAreDurableAfterASync) {
  RecordingSystem system;
  const base::SystemOverride use(system);
  SessionIndex index(file);
  index.append_latest([] { return std::vector{entry("a")}; }, quick.deadline);
  EXPECT_THAT(system.calls, ElementsAre("sync " + dir_name, "write session_index.jsonl"));
  EXPECT_TRUE(index.find(ThreadId("a")));
  system.calls.clear();
  index.sync(quick.deadline);
  EXPECT_THAT(system.calls, ElementsAre("datasync session_index.jsonl"));
  system.fail_call = "datasync session_index.jsonl";
  EXPECT_THROW(index.sync(quick.deadline), Error);
}

TEST_F(SessionIndexDurabilityTest, AnAppendReadsOneByteWhateverTheSize) {
  std::vector<IndexEntry> many;
  for (int i = 0; i < 3'000; ++i) many.push_back(entry(std::to_string(i)));
  SessionIndex(file).append(many);
  RecordingSystem system;
  const base::SystemOverride use(system);
  SessionIndex index(file);  // as a new process: nothing in memory
  for (int i = 0; i < 10; ++i) index.append(entry("x"));
  EXPECT_EQ(system.bytes_read, 10U);
}

TEST_F(SessionIndexDurabilityTest, AWarmLookUpReadsOnlyWhatWasAdded) {
  std::vector<IndexEntry> many;
  for (int i = 0; i < 3'000; ++i) many.push_back(entry(std::to_string(i)));
  SessionIndex index(file);
  index.append(many);
  EXPECT_EQ(index.entries().size(), 3'000U);
  RecordingSystem system;
  const base::SystemOverride use(system);
  EXPECT_TRUE(index.find(ThreadId("7")));
  EXPECT_EQ(index.find_by_name("NAME OF 8").size(), 1U);
  EXPECT_EQ(system.bytes_read, 0U);
  SessionIndex(file).append(entry("new"));
  EXPECT_TRUE(index.find(ThreadId("new")));
  EXPECT_LT(system.bytes_read, 1'000U);
}

TEST_F(SessionIndexDurabilityTest, CompactionSyncsTheFileBeforeAndTheDirectoryAfterTheRename) {
  SessionIndex index(file);
  index.append(entry("a"));
  write_file(dir / "session_index.jsonl.compact", "left over by a crash");
  RecordingSystem system;
  const base::SystemOverride use(system);
  index.compact();
  EXPECT_THAT(system.calls,
              ElementsAre("write session_index.jsonl.compact", "sync session_index.jsonl.compact",
                          "rename", "sync " + dir_name));
  EXPECT_FALSE(std::filesystem::exists(dir / "session_index.jsonl.compact"));
  EXPECT_TRUE(index.find(ThreadId("a")));
}

TEST_F(SessionIndexDurabilityTest, AFailedSyncIsReportedAndNeverRepeated) {
  RecordingSystem system;
  system.fail_call = "datasync session_index.jsonl";
  const base::SystemOverride use(system);
  SessionIndex index(file);
  EXPECT_THROW(index.append(entry("a")), Error);
  EXPECT_EQ(std::count(system.calls.begin(), system.calls.end(), system.fail_call), 1);
}

TEST_F(SessionIndexDurabilityTest, AFullDiskLeavesNoPartialLine) {
  SessionIndex index(file);
  index.append(entry("a"));
  const string before = read_file(file);
  RecordingSystem system;
  const base::SystemOverride use(system);
  system.short_write = 10;
  try {
    index.append(entry("b"));
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_EQ(std::pair(e.code(), e.io_reason()), std::pair(ErrorCode::io, IoReason::disk_full));
  }
  EXPECT_EQ(read_file(file), before);
  // Even when it cannot be cut back, the next append is not swallowed.
  system.fail_call = "truncate session_index.jsonl";
  EXPECT_THROW(index.append(entry("b")), Error);
  system.short_write = 0;
  index.append(entry("c"));
  EXPECT_TRUE(index.find(ThreadId("a")) && index.find(ThreadId("c")));
}

TEST_F(SessionIndexDurabilityTest, ACompactionThatFailsLeavesTheIndexAndTheAppendStands) {
  SessionIndex index(file);
  index.append({entry("a"), entry("b")});
  RecordingSystem system;
  system.fail_call = "rename";
  const base::SystemOverride use(system);
  const string before = read_file(file);
  EXPECT_THROW(index.compact(), Error);
  EXPECT_EQ(read_file(file), before);
  index.append_tombstone(ThreadId("a"), 2);  // would compact: the warning is all
  EXPECT_FALSE(index.find(ThreadId("a")));
  EXPECT_TRUE(index.find(ThreadId("b")));
}

TEST_F(SessionIndexDurabilityTest, EveryFileIsPrivateWhateverTheUmask) {
  for (const mode_t mask : {mode_t{0}, mode_t{022}}) {
    const TempDir home;
    const mode_t old = ::umask(mask);
    const std::filesystem::path made = home / "deep" / "store" / "session_index.jsonl";
    SessionIndex index(made);
    index.append(entry("a"));
    const mode_t appended = mode_of(made);
    index.compact();
    ::umask(old);
    EXPECT_EQ(appended, 0600U);
    EXPECT_EQ(mode_of(made), 0600U);
    EXPECT_EQ(mode_of(made.string() + ".lock"), 0600U);
    EXPECT_EQ(mode_of(home / "deep"), 0700U);
    EXPECT_EQ(mode_of(home / "deep" / "store"), 0700U);
  }
}

TEST_F(SessionIndexDurabilityTest, NeitherLockNorTemporaryIsOpenedThroughALink) {
  write_file(dir / "victim", "precious");
  SessionIndex index(file);
  index.append(entry("a"));
  std::filesystem::create_symlink(dir / "victim", dir / "session_index.jsonl.compact");
  index.compact();
  EXPECT_EQ(read_file(dir / "victim"), "precious");

  std::filesystem::create_directory(dir / "other");
  std::filesystem::create_symlink(dir / "victim", dir / "other" / "session_index.jsonl.lock");
  EXPECT_THROW(SessionIndex(dir / "other" / "session_index.jsonl").append(entry("a")), Error);
  EXPECT_EQ(read_file(dir / "victim"), "precious");
}

TEST_F(SessionIndexDurabilityTest, AHeldLockOfEitherFamilyIsBusyAndLookingDoesNotWait) {
  for (const char* family : {"flock", "posix"}) {
    SessionIndex index(file, quick);
    index.append(entry(family));
    ChildProcess holder({LOCK_ACTOR, family, file.string() + ".lock"});
    ASSERT_EQ(holder.read_line(), "held");
    for (const std::function<void()>& change : std::vector<std::function<void()>>{
             [&] { index.append(entry("x")); }, [&] { index.compact(); },
             [&] { index.rebuild([] { return std::vector<IndexEntry>(); }); }}) {
      try {
        change();
        ADD_FAILURE() << "changed the index against a lock of " << family;
      } catch (const Error& e) {
        EXPECT_EQ(e.code(), ErrorCode::busy);
        EXPECT_THAT(e.what(), testing::HasSubstr("session_index.jsonl.lock"));
      }
    }
    EXPECT_TRUE(index.find(ThreadId(family)));
    EXPECT_FALSE(index.find(ThreadId("x")));
    holder.close_input();
    EXPECT_EQ(holder.wait(), 0);
  }
}

}  // namespace
}  // namespace threadstore
