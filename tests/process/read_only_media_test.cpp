// A store on a file system that is mounted read-only, in each state in which its last writer may
// have left it: it reads well, and nothing in its directory changes. Needs the right to mount.
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>

#include <map>

#include "tests/process/store_fixture.h"

namespace threadstore::test {
namespace {

class ReadOnlyMediaTest : public StoreFixture {
 protected:
  /// A file system of our own, which no other process sees and which goes with this one.
  void SetUp() override {
    std::filesystem::create_directory(mount_point());
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, "") != 0 ||
        ::mount("tmpfs", mount_point().c_str(), "tmpfs", 0, "mode=0700") != 0) {
      GTEST_SKIP() << "this process may not mount: run the test as root to see it";
    }
    mounted_ = true;
  }
  void TearDown() override {
    if (mounted_) ::umount2(mount_point().c_str(), MNT_DETACH);
  }

  std::filesystem::path mount_point() const { return folder_ / "home"; }

  void make_read_only() {
    ASSERT_EQ(::mount("tmpfs", mount_point().c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, ""), 0);
    before_ = content();
  }

  /// Names of all that is there, with a fingerprint of the bytes.
  std::map<std::string, std::size_t> content() const {
    std::map<std::string, std::size_t> files;
    for (const auto& entry : std::filesystem::directory_iterator(mount_point())) {
      files[entry.path().filename().string()] =
          entry.is_regular_file() ? std::hash<std::string>{}(read_file(entry.path())) : 0;
    }
    return files;
  }

  /// A thread named "kept", made by another process: this one must hold no file of the store open
  /// when it turns read-only.
  ThreadId make_kept_thread(int messages) const {
    ProcessSwarm maker({actor("make", {"kept", std::to_string(messages)})});
    maker.go();
    return ThreadId(maker.finish().at(0).at(0).substr(sizeof "made"));
  }

  /// A writer that is killed with its work still in the -wal; returns how many messages it stored.
  std::int64_t leave_a_wal(const ThreadId& thread) const {
    ProcessSwarm writer({actor("keep-appending", {thread.str()})});
    writer.go();
    EXPECT_EQ(writer[0].read_line(), "first");
    writer.kill(SIGKILL);
    writer[0].wait();
    EXPECT_GT(std::filesystem::file_size(database().string() + "-wal"), 0U);
    // Asked of a copy: a look at the store itself would clean up after the dead writer.
    const TempDir copy;
    for (const char* suffix : {"", "-wal"}) {
      std::filesystem::copy_file(database().string() + suffix, copy / ("db" + std::string(suffix)));
    }
    return std::stoll(plain_query(copy / "db", "SELECT count(*) FROM messages").at(0));
  }

  /// Every kind of reading works, writing says that it cannot, and nothing has changed.
  void expect_readable(const ThreadId& thread, std::int64_t messages) {
    {
      const auto store = open({.mode = OpenMode::read_only});
      EXPECT_EQ(store.threads().get(thread).name, "kept");
      EXPECT_EQ(store.threads().find_by_name("kept").size(), 1U);
      EXPECT_EQ(store.messages().count(thread), messages);
      EXPECT_EQ(store.messages().list(thread, {.limit = 100'000}).messages.size(),
                static_cast<std::size_t>(messages));
      EXPECT_EQ(store.index()->find(thread)->thread_name, "kept");
      try {
        store.threads().rename(thread, "changed");
        ADD_FAILURE() << "a read-only store was changed";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::io) << error.what();
        EXPECT_EQ(error.io_reason(), IoReason::read_only) << error.what();
      }
    }
    EXPECT_EQ(content(), before_);
  }

 private:
  bool mounted_ = false;
  std::map<std::string, std::size_t> before_;
};

TEST_F(ReadOnlyMediaTest, AStoreThatWasClosedCleanlyReads) {
  const ThreadId thread = make_kept_thread(1);
  ASSERT_FALSE(std::filesystem::exists(database().string() + "-wal"));
  make_read_only();
  expect_readable(thread, 1);
}

TEST_F(ReadOnlyMediaTest, WhatADeadWriterLeftInTheWalIsRead) {
  const ThreadId thread = make_kept_thread(0);
  const std::int64_t messages = leave_a_wal(thread);
  make_read_only();
  expect_readable(thread, messages);
}

TEST_F(ReadOnlyMediaTest, AWalWithoutItsSharedMemoryIsRead) {
  const ThreadId thread = make_kept_thread(0);
  const std::int64_t messages = leave_a_wal(thread);
  std::filesystem::remove(database().string() + "-shm");
  make_read_only();
  expect_readable(thread, messages);
}

TEST_F(ReadOnlyMediaTest, AnEmptyWalIsNoObstacle) {
  const ThreadId thread = make_kept_thread(1);
  write_file(database().string() + "-wal", "");
  make_read_only();
  expect_readable(thread, 1);
}

TEST_F(ReadOnlyMediaTest, AnOldSchemaIsReadFromAPrivateCopy) {
  std::filesystem::copy_file(fixture("old-v1/state.db"), database());
  const auto threads = plain_query(database(), "SELECT count(*) FROM threads").at(0);
  make_read_only();
  EXPECT_EQ(
      std::to_string(
          open({.mode = OpenMode::read_only}).threads().count({.archived = ArchivedFilter::all})),
      threads);
}

TEST_F(ReadOnlyMediaTest, WhereNoStoreIsNoneIsMade) {
  make_read_only();
  try {
    open({.mode = OpenMode::read_only});
    ADD_FAILURE() << "a store that does not exist was opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::not_found) << error.what();
  }
  EXPECT_TRUE(content().empty());
}

}  // namespace
}  // namespace threadstore::test
