#include <gmock/gmock.h>
#include <sys/stat.h>

#include "tests/exchange/export_fixture.h"
#include "threadstore/error.h"

namespace threadstore::test {
namespace {

using ::testing::HasSubstr;

class ExportFilesTest : public ExportFixture {
 protected:
  static mode_t mode(const std::filesystem::path& file) {
    struct stat status {};
    EXPECT_EQ(::stat(file.c_str(), &status), 0);
    return status.st_mode & 0777;
  }

  template <class Body>
  static ErrorCode code_of(Body&& body) {
    try {
      body();
    } catch (const Error& error) {
      return error.code();
    }
    ADD_FAILURE() << "nothing was thrown";
    return ErrorCode::damaged;
  }

  std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(dir_.path())) {
      all.push_back(entry.path().filename());
    }
    std::sort(all.begin(), all.end());
    return all;
  }

  TempDir dir_;
};

TEST_F(ExportFilesTest, AFileIsPrivateAndReplacedOnlyWhenTold) {
  const ThreadId id = thread("t1");
  say(id, "user", "hello");
  const auto file = dir_ / "talk.md";
  EXPECT_EQ(export_thread(store_, id, file).messages, 1);
  EXPECT_EQ(mode(file), 0600);
  const std::string before = read_file(file);
  say(id, "user", "more");
  EXPECT_EQ(code_of([&] { export_thread(store_, id, file); }), ErrorCode::conflict);
  EXPECT_EQ(read_file(file), before);
  export_thread(store_, id, file, {.overwrite = true});
  EXPECT_THAT(read_file(file), HasSubstr("more"));
  EXPECT_EQ(names(), std::vector<std::string>{"talk.md"}) << "no temporary file stays";
}

TEST_F(ExportFilesTest, AFailureLeavesNoFileAndTheOldOneAlone) {
  const ThreadId id = thread("t1");
  say(id, "user", "hello");
  const auto file = dir_ / "talk.md";
  write_file(file, "old");
  EXPECT_EQ(
      code_of([&] { export_thread(store_, id, file, {.leaf = MessageId{99}, .overwrite = true}); }),
      ErrorCode::not_found);
  EXPECT_EQ(code_of([&] { export_thread(store_, ThreadId("none"), dir_ / "x.md"); }),
            ErrorCode::not_found);
  EXPECT_EQ(code_of([&] { export_thread(store_, id, dir_ / "missing" / "x.md"); }),
            ErrorCode::not_found);
  EXPECT_EQ(code_of([&] { export_thread(store_, id, dir_.path()); }), ErrorCode::conflict);
  EXPECT_EQ(read_file(file), "old");
  EXPECT_EQ(names(), std::vector<std::string>{"talk.md"});
}

TEST_F(ExportFilesTest, EveryThreadGetsAFileWithASafeName) {
  thread("t1", {.name = "../../etc/Passwd \n?"});
  thread("t2", {.name = "名前"});
  store_.threads().archive(ThreadId("t2"));
  thread("a/b", {.name = "same"});
  thread("a.b", {.name = "same"});
  const auto target = dir_ / "out";
  const ExportedAll all = export_all(store_, target, {.format = ExportFormat::html});
  EXPECT_EQ(all.threads.size(), 4);
  EXPECT_TRUE(all.failed.empty());
  EXPECT_EQ(mode(target), 0700);
  std::set<std::string> files;
  for (const Exported& one : all.threads) {
    EXPECT_EQ(one.file.parent_path(), target);
    EXPECT_EQ(mode(one.file), 0600);
    const std::string name = one.file.filename();
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-."), name.npos) << name;
    files.insert(name);
  }
  EXPECT_EQ(files.size(), 4);
  EXPECT_TRUE(files.contains("etc-passwd-t1.html")) << *files.begin();
}

TEST_F(ExportFilesTest, ExistingFilesAreSeenBeforeTheFirstIsWritten) {
  thread("t1");
  thread("t2");
  write_file(dir_ / "t1.md", "mine");
  EXPECT_EQ(code_of([&] { export_all(store_, dir_.path(), {}); }), ErrorCode::conflict);
  EXPECT_EQ(names(), std::vector<std::string>{"t1.md"});
  export_all(store_, dir_.path(), {.overwrite = true});
  EXPECT_EQ(names(), (std::vector<std::string>{"t1.md", "t2.md"}));
}

TEST_F(ExportFilesTest, AStreamThatFailsIsAnError) {
  const ThreadId id = thread("t1");
  std::ostringstream out;
  out.setstate(std::ios::badbit);
  EXPECT_EQ(code_of([&] { export_thread(store_, id, out); }), ErrorCode::io);
}

}  // namespace
}  // namespace threadstore::test
