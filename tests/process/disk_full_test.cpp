// A disk that fills up under a writer: the program says so, nothing that was acknowledged is lost,
// and when there is space again the same store goes on. Needs the right to mount.
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mount.h>

#include "tests/process/store_fixture.h"

namespace threadstore::test {
namespace {

constexpr int kExitIo = 8;

class DiskFullTest : public StoreFixture, public ::testing::WithParamInterface<int> {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(folder_ / "home");
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, "") != 0 ||
        ::mount("tmpfs", home().c_str(), "tmpfs", 0, size(GetParam()).c_str()) != 0) {
      GTEST_SKIP() << "this process may not mount: run the test as root to see it";
    }
    mounted_ = true;
  }
  void TearDown() override {
    if (mounted_) ::umount2(home().c_str(), MNT_DETACH);
  }

  static std::string size(int kilobytes) {
    return "mode=0700,size=" + std::to_string(kilobytes) + "k";
  }
  void make_space() const {
    ASSERT_EQ(::mount("tmpfs", home().c_str(), "tmpfs", MS_REMOUNT, size(64 << 10).c_str()), 0);
  }

  /// Runs the program on the store to its end; its exit code.
  int run(const std::vector<std::string>& arguments) {
    Command line{THREADSTORE_PROGRAM, "--home", home(), "--quiet"};
    line.insert(line.end(), arguments.begin(), arguments.end());
    ChildProcess program(line);
    program.close_input();
    printed_.clear();
    for (const std::string& text : read_lines(program)) printed_ += text + "\n";
    return program.wait();
  }
  int append(const std::string& content) {
    return run({"append", thread_, "--role", "user", "--content", content});
  }

  /// The messages that the program shows, as one text each.
  std::vector<std::string> shown() {
    std::vector<std::string> contents;
    for (const Message& message : StateStore::open(database())
                                      .messages()
                                      .list(ThreadId(thread_), {.limit = 100'000})
                                      .messages) {
      contents.push_back(message.content);
    }
    return contents;
  }

  bool mounted_ = false;
  std::string thread_ = "the-thread";
  std::string printed_;
};

TEST_P(DiskFullTest, NothingAcknowledgedIsLostAndItGoesOnWhenThereIsSpace) {
  const std::vector<std::string> make{"new", "--id", thread_, "--name", "full"};
  const int made = run(make);
  std::vector<std::string> acknowledged;
  if (made == 0) {
    // Quickly, in one process, up to the refusal; then the program meets the same disk.
    ProcessSwarm writer({actor("append", {thread_, "100000", std::string(3000, 'w')})});
    writer.go();
    const auto said = read_lines(writer[0]);
    EXPECT_EQ(writer[0].wait(), 3);
    ASSERT_FALSE(said.empty());
    EXPECT_THAT(said.back(), testing::StartsWith("error io: "));
    EXPECT_THAT(said.back(), testing::HasSubstr("free some space"));
    for (std::size_t i = 0; i + 1 < said.size(); ++i) {
      acknowledged.push_back(std::string(3000, 'w') + " " + std::to_string(i));
    }
    if (GetParam() >= 4096) {  // a new store leaves room there
      EXPECT_GT(acknowledged.size(), 100U);
    }
    int tries = 0;
    int code = 0;
    for (; code == 0 && tries < 50; ++tries) {  // a smaller one may still fit
      const std::string content = "program " + std::to_string(tries) + std::string(30'000, 'p');
      code = append(content);
      if (code == 0) acknowledged.push_back(content);
    }
    EXPECT_EQ(code, kExitIo) << printed_;
  } else {
    EXPECT_EQ(made, kExitIo) << printed_;
  }

  make_space();
  if (made != 0) {
    EXPECT_EQ(run(make), 0) << printed_;
  }
  EXPECT_EQ(shown(), acknowledged);
  EXPECT_EQ(append("after"), 0);
  acknowledged.emplace_back("after");
  EXPECT_EQ(shown(), acknowledged);
  EXPECT_EQ(run({"doctor"}), 0) << printed_;
  expect_whole(open());
}

INSTANTIATE_TEST_SUITE_P(Sizes, DiskFullTest, ::testing::Values(300, 1024, 4096),
                         [](const auto& size) { return std::to_string(size.param) + "KB"; });

}  // namespace
}  // namespace threadstore::test
