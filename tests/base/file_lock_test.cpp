#include "base/file_lock.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <thread>

#include "tests/support/child_process.h"
#include "tests/support/temp_dir.h"
#include "threadstore/error.h"

namespace threadstore::base {
namespace {

using std::chrono::milliseconds;
using test::ChildProcess;
using test::TempDir;

Deadline soon() { return Deadline::after(milliseconds(30)); }
Deadline late() { return Deadline::after(std::chrono::seconds(30)); }

/// Exit code 3: another process holds the lock of that family.
int try_in_another_process(const std::string& family, const std::filesystem::path& file) {
  ChildProcess actor({LOCK_ACTOR, family, file});
  actor.close_input();
  return actor.wait();
}

TEST(FileLockTest, ExcludesProgramsOfBothFamiliesAndFreesBoth) {
  const TempDir dir;
  FileLock& lock = FileLock::at(dir / "x.lock");
  {
    const FileLock::Guard held = lock.acquire(late());
    EXPECT_EQ(try_in_another_process("flock", dir / "x.lock"), 3);
    EXPECT_EQ(try_in_another_process("posix", dir / "x.lock"), 3);
  }
  EXPECT_EQ(try_in_another_process("flock", dir / "x.lock"), 0);
  EXPECT_EQ(try_in_another_process("posix", dir / "x.lock"), 0);
}

TEST(FileLockTest, IsBusyNamingTheHolderWhileAnotherProcessHoldsEitherFamily) {
  for (const char* family : {"flock", "posix"}) {
    const TempDir dir;
    ChildProcess actor({LOCK_ACTOR, family, dir / "x.lock"});
    ASSERT_EQ(actor.read_line(), "held");
    FileLock& lock = FileLock::at(dir / "x.lock");
    EXPECT_FALSE(lock.try_acquire());
    try {
      lock.acquire(soon());
      FAIL() << "got a lock that is held";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::busy);
      EXPECT_THAT(e.what(), testing::HasSubstr((dir / "x.lock").string()));
      EXPECT_THAT(e.what(),
                  testing::HasSubstr("process " + std::to_string(actor.pid()) + " (lock_actor)"));
    }
    // A failed attempt must not keep half of the pair.
    actor.close_input();
    EXPECT_EQ(actor.wait(), 0);
    EXPECT_EQ(try_in_another_process("flock", dir / "x.lock"), 0);
    EXPECT_EQ(try_in_another_process("posix", dir / "x.lock"), 0);
    EXPECT_TRUE(lock.try_acquire());
  }
}

TEST(FileLockTest, WaitsUntilTheHolderEnds) {
  const TempDir dir;
  ChildProcess actor({LOCK_ACTOR, "posix", dir / "x.lock"});
  ASSERT_EQ(actor.read_line(), "held");
  std::atomic<bool> ended = false;
  std::thread waiter([&] {
    const FileLock::Guard held = FileLock::at(dir / "x.lock").acquire(late());
    EXPECT_TRUE(ended);
  });
  ended = true;
  actor.close_input();
  waiter.join();
}

TEST(FileLockTest, IsOneObjectPerRealPathAndExcludesThreads) {
  const TempDir dir;
  std::filesystem::create_directory(dir / "real");
  std::filesystem::create_directory_symlink(dir / "real", dir / "link");
  FileLock& lock = FileLock::at(dir / "real" / "x.lock");
  EXPECT_EQ(&lock, &FileLock::at(dir / "link" / "x.lock"));
  EXPECT_EQ(&lock, &FileLock::at(dir / "real" / ".." / "real" / "x.lock"));

  int counter = 0;  // not atomic: the lock is what makes this right
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        const FileLock::Guard held = lock.acquire(late());
        ++counter;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter, 800);
}

TEST(FileLockTest, AThreadThatWaitsIsBusyAfterItsDeadline) {
  const TempDir dir;
  FileLock& lock = FileLock::at(dir / "x.lock");
  const FileLock::Guard held = lock.acquire(late());
  std::thread([&] {
    EXPECT_FALSE(lock.try_acquire());
    EXPECT_THROW(lock.acquire(soon()), Error);
  }).join();
}

TEST(FileLockTest, LocksTheNewFileWhenSomebodyReplacedIt) {
  const TempDir dir;
  FileLock& lock = FileLock::at(dir / "x.lock");
  std::filesystem::remove(dir / "x.lock");
  const FileLock::Guard held = lock.acquire(late());
  EXPECT_EQ(try_in_another_process("flock", dir / "x.lock"), 3);
  EXPECT_EQ(try_in_another_process("posix", dir / "x.lock"), 3);
}

TEST(FileLockTest, IsPrivateAndNeverFollowsALink) {
  const TempDir dir;
  const mode_t old = ::umask(0);
  FileLock::at(dir / "x.lock");
  ::umask(old);
  struct stat status {};
  ASSERT_EQ(::stat((dir / "x.lock").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0600U);

  test::write_file(dir / "victim", "");
  std::filesystem::create_symlink(dir / "victim", dir / "link.lock");
  EXPECT_THROW(FileLock::at(dir / "link.lock"), Error);
  EXPECT_THROW(FileLock::at(dir / "missing" / "x.lock"), Error);
}

TEST(FileLockTest, GivesNoDescriptorToAProgramThatWeStart) {
  const TempDir dir;
  FileLock::at(dir / "x.lock");
  int open_on_it = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    if (std::filesystem::read_symlink(entry.path(), ignored) != dir / "x.lock") continue;
    ++open_on_it;
    const int flags = ::fcntl(std::stoi(entry.path().filename()), F_GETFD);
    EXPECT_EQ(flags & FD_CLOEXEC, FD_CLOEXEC);
  }
  EXPECT_EQ(open_on_it, 2);
}

}  // namespace
}  // namespace threadstore::base
