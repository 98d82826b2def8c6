// Real power cuts: an ext4 file system in a file, on a loop device, that the kernel shuts down
// under a swarm of writers as if its power were gone: what is in memory only is lost. What the
// writers were told is noted outside of it. Needs root, a loop device and mkfs.ext4.
//
//   THREADSTORE_LONG_TESTS=1     40 cuts instead of 3
//   THREADSTORE_CUTS=N           so many cuts
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <random>
#include <thread>

#include "tests/process/history.h"
#include "tests/process/store_fixture.h"

namespace threadstore::test {
namespace {

constexpr std::size_t kWriters = 4;
constexpr unsigned long kShutdown = _IOR('X', 125, std::uint32_t);  // EXT4_IOC_SHUTDOWN

int cuts() {
  const char* wanted = std::getenv("THREADSTORE_CUTS");
  if (wanted != nullptr && *wanted != '\0') return std::atoi(wanted);
  return long_tests() ? 40 : 3;
}

int run(const Command& command) {
  ChildProcess program(command);
  program.close_input();
  read_lines(program);
  return program.wait();
}

/// What `look` says, run in a process of its own: this one must never hold a file of the disk open,
/// or it could not be taken away.
std::vector<std::string> in_another_process(const std::function<std::vector<std::string>()>& look) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("pipe");
  const pid_t child = ::fork();
  if (child == 0) {
    std::string said;
    try {
      for (const std::string& line : look()) said += line + "\n";
    } catch (const std::exception& error) {
      said = std::string("cannot look: ") + error.what() + "\n";
    }
    const bool written = ::write(ends[1], said.data(), said.size()) >= 0;
    ::_exit(written ? 0 : 1);
  }
  ::close(ends[1]);
  std::string said;
  char bytes[4096];
  for (ssize_t got = 0; (got = ::read(ends[0], bytes, sizeof bytes)) > 0;) {
    said.append(bytes, static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (status != 0) said += "the look ended with " + std::to_string(status) + "\n";
  std::vector<std::string> lines;
  for (std::size_t at = 0, end = 0; (end = said.find('\n', at)) != std::string::npos;
       at = end + 1) {
    lines.push_back(said.substr(at, end - at));
  }
  return lines;
}

class RealCutTest : public StoreFixture {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(disk());
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, "") != 0) {
      GTEST_SKIP() << "this process may not mount: run the test as root to see it";
    }
    write_file(image(), "");
    std::filesystem::resize_file(image(), 64 << 20);
    try {
      if (run({"mkfs.ext4", "-q", "-F", image().string()}) == 0) mount_disk();
    } catch (const std::exception&) {  // no such program
    }
    if (!mounted_) GTEST_SKIP() << "no ext4 on a loop device here: real power cuts are not tested";
  }
  void TearDown() override {
    if (mounted_) ::umount2(disk().c_str(), MNT_DETACH);
  }

  std::filesystem::path disk() const { return folder_ / "home"; }
  std::filesystem::path image() const { return folder_ / "disk.img"; }

  void mount_disk() {
    mounted_ = run({"mount", "-o", "loop", image().string(), disk().string()}) == 0;
  }

  /// False when the kernel does not do it.
  bool cut_power(std::uint32_t how) const {
    const int directory = ::open(disk().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool done = ::ioctl(directory, kShutdown, &how) == 0;
    ::close(directory);
    return done;
  }

  ThreadId make_thread_elsewhere() const {
    ProcessSwarm maker({actor("make", {"name"})});
    maker.go();
    return ThreadId(maker.finish().at(0).at(0).substr(sizeof "made"));
  }

  std::vector<std::string> look(const History& history) const {
    return in_another_process([&] {
      const auto store = open();
      auto found = history.violations(store);
      for (const Check& check : store.check()) {
        if (check.status == CheckStatus::failed) found.push_back(check.name + ": " + check.detail);
      }
      return found;
    });
  }

  bool mounted_ = false;
};

/// Takes in what a writer has said up to now.
void take_in(History& history, ProcessSwarm& swarm) {
  for (std::size_t i = 0; i < swarm.size(); ++i) {
    try {
      while (const auto line = swarm[i].read_line(std::chrono::seconds(0))) {
        history.acknowledge(i, *line);
      }
    } catch (const std::runtime_error&) {  // nothing more at the moment
    }
  }
}

TEST_F(RealCutTest, WhatWasAcknowledgedSurvivesAPowerCut) {
  std::vector<ThreadId> own;
  for (std::size_t i = 0; i < kWriters; ++i) own.push_back(make_thread_elsewhere());
  const ThreadId shared = make_thread_elsewhere();
  History history(own, shared);
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);

  for (int round = 0; round < cuts() && !HasFailure(); ++round) {
    std::vector<Command> commands;
    for (std::size_t i = 0; i < kWriters; ++i) {
      commands.push_back(actor("write", {own[i].str(), shared.str(),
                                         "r" + std::to_string(round) + "w" + std::to_string(i)}));
    }
    ProcessSwarm swarm(commands);
    swarm.go();
    const std::size_t before = history.size();
    const std::size_t wanted = before + random() % 400;
    while (history.size() < wanted || history.size() == before) {
      take_in(history, swarm);
      std::this_thread::yield();
    }
    take_in(history, swarm);
    // 1: the journal in memory is written out first; 2: it is lost, too.
    if (!cut_power(round % 4 == 3 ? 1 : 2)) {
      GTEST_SKIP() << "this kernel does not shut a file system down: real cuts are not tested";
    }
    swarm.kill(SIGKILL);
    for (std::size_t i = 0; i < kWriters; ++i) swarm[i].wait();
    ASSERT_EQ(::umount2(disk().c_str(), 0), 0);
    mount_disk();
    ASSERT_TRUE(mounted_);
    EXPECT_THAT(look(history), testing::IsEmpty()) << "cut " << round;
  }
}

}  // namespace
}  // namespace threadstore::test
