#include "base/files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/system.h"
#include "tests/support/recording_system.h"
#include "tests/support/temp_dir.h"
#include "threadstore/error.h"

namespace threadstore::base {
namespace {

using test::read_file;
using test::RecordingSystem;
using test::TempDir;
using test::write_file;

mode_t mode_of(const std::filesystem::path& file) {
  struct stat status {};
  EXPECT_EQ(::stat(file.c_str(), &status), 0) << file;
  return status.st_mode & 07777;
}

class ScopedUmask {
 public:
  explicit ScopedUmask(mode_t mask) : old_(::umask(mask)) {}
  ~ScopedUmask() { ::umask(old_); }

 private:
  mode_t old_;
};

TEST(FilesTest, MakesPrivateFilesAndDirectoriesWhateverTheUmask) {
  for (const mode_t mask : {mode_t{0}, mode_t{022}, mode_t{0177}}) {
    const TempDir dir;
    const ScopedUmask umask(mask);
    make_directories(dir / "a" / "b");
    bool created = false;
    File::open_or_create(dir / "a" / "b" / "made", O_RDWR, &created);
    replace_file(dir / "replaced", dir / "temporary", "x");
    EXPECT_TRUE(created);
    EXPECT_EQ(mode_of(dir / "a"), 0700U);
    EXPECT_EQ(mode_of(dir / "a" / "b"), 0700U);
    EXPECT_EQ(mode_of(dir / "a" / "b" / "made"), 0600U);
    EXPECT_EQ(mode_of(dir / "replaced"), 0600U);
  }
}

TEST(FilesTest, MakesNewDirectoriesDurableUpToTheFirstThatExisted) {
  const TempDir dir;
  RecordingSystem system;
  const SystemOverride use(system);
  make_directories(dir / "a" / "b" / "");
  EXPECT_THAT(system.calls, testing::ElementsAre("sync b", "sync a", "sync a",
                                                 "sync " + dir.path().filename().string()));
  system.calls.clear();
  make_directories(dir / "a" / "b");
  EXPECT_THAT(system.calls, testing::IsEmpty());
}

TEST(FilesTest, ReplacesInTheOrderThatACrashCannotBreak) {
  const TempDir dir;
  write_file(dir / "file", "old");
  write_file(dir / "temporary", "left over");
  RecordingSystem system;
  const SystemOverride use(system);
  replace_file(dir / "file", dir / "temporary", "new");
  EXPECT_THAT(system.calls, testing::ElementsAre("write temporary", "sync temporary", "rename",
                                                 "sync " + dir.path().filename().string()));
  EXPECT_EQ(read_file(dir / "file"), "new");
}

TEST(FilesTest, AFailedReplacementLeavesTheOldContentAndNoTemporary) {
  for (const char* call : {"sync temporary", "rename"}) {
    const TempDir dir;
    write_file(dir / "file", "old");
    RecordingSystem system;
    system.fail_call = call;
    const SystemOverride use(system);
    EXPECT_THROW(replace_file(dir / "file", dir / "temporary", "new"), Error);
    EXPECT_EQ(read_file(dir / "file"), "old");
    EXPECT_FALSE(std::filesystem::exists(dir / "temporary"));
  }
}

TEST(FilesTest, ATemporaryThatIsALinkIsReplacedAndNotFollowed) {
  const TempDir dir;
  write_file(dir / "victim", "precious");
  std::filesystem::create_symlink(dir / "victim", dir / "temporary");
  replace_file(dir / "file", dir / "temporary", "new");
  EXPECT_EQ(read_file(dir / "victim"), "precious");
  EXPECT_FALSE(std::filesystem::is_symlink(dir / "file"));
}

TEST(FilesTest, AShortAppendIsCutBackAndReportedAsAFullDisk) {
  const TempDir dir;
  write_file(dir / "log", "one\n");
  RecordingSystem system;
  const SystemOverride use(system);
  std::optional<File> file = File::open(dir / "log", O_WRONLY | O_APPEND);
  system.short_write = 2;
  try {
    file->append("two\n");
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_EQ(std::pair(e.code(), e.io_reason()), std::pair(ErrorCode::io, IoReason::disk_full));
  }
  EXPECT_EQ(read_file(dir / "log"), "one\n");
}

TEST(FilesTest, AFailedSyncIsReportedAndNotRepeated) {
  const TempDir dir;
  RecordingSystem system;
  system.fail_call = "datasync log";
  const SystemOverride use(system);
  File file = File::open_or_create(dir / "log", O_WRONLY | O_APPEND);
  file.append("x\n");
  EXPECT_THROW(file.sync_data(), Error);
  EXPECT_THAT(system.calls, testing::ElementsAre("write log", "datasync log"));
}

TEST(FilesTest, SaysWhyTheSystemRefused) {
  const TempDir dir;
  std::filesystem::create_symlink(dir / "nowhere", dir / "link");
  EXPECT_THROW(File::open_or_create(dir / "link", O_RDWR), Error);
  EXPECT_THROW(File::open(dir / "link", O_RDWR | O_NOFOLLOW), Error);
  try {
    File::create(dir / "no" / "such", O_RDWR);
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.what(),
              "cannot create " + (dir / "no" / "such").string() + ": No such file or directory");
  }
}

TEST(FilesTest, ReadsAPartUpToTheEnd) {
  const TempDir dir;
  write_file(dir / "file", "0123456789");
  const std::optional<File> file = File::open(dir / "file", O_RDONLY);
  EXPECT_EQ(file->read_at(4, 3), "456");
  EXPECT_EQ(file->read_at(8, 100), "89");
  EXPECT_EQ(File::open(dir / "none", O_RDONLY).has_value(), false);
}

}  // namespace
}  // namespace threadstore::base
