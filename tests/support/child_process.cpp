#include "tests/support/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

extern char** environ;

namespace threadstore::test {
namespace {

[[noreturn]] void fail(const std::string& what, int error) {
  throw std::system_error(error, std::generic_category(), what);
}

std::array<int, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail("pipe", errno);
  return ends;
}

/// Waits until the descriptor is readable; false when the time is over.
bool readable(int descriptor, std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    pollfd entry{descriptor, POLLIN, 0};
    const int ready = ::poll(&entry, 1, static_cast<int>(std::max<long>(0, left.count())));
    if (ready > 0) return true;
    if (ready == 0) return false;
    if (errno != EINTR) fail("poll", errno);
  }
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& command) {
  ::signal(SIGPIPE, SIG_IGN);  // writing to a child that ended is an error, not our end
  const std::array<int, 2> to_child = make_pipe();
  const std::array<int, 2> from_child = make_pipe();
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, to_child[0], STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, from_child[1], STDOUT_FILENO);
  posix_spawnattr_t attributes;  // the child does not inherit our way with SIGPIPE
  ::posix_spawnattr_init(&attributes);
  sigset_t restored;
  ::sigemptyset(&restored);
  ::sigaddset(&restored, SIGPIPE);
  ::posix_spawnattr_setsigdefault(&attributes, &restored);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const int error =
      ::posix_spawnp(&pid_, arguments[0], &actions, &attributes, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  ::close(to_child[0]);
  ::close(from_child[1]);
  input_ = to_child[1];
  output_ = from_child[0];
  if (error != 0) fail("start " + command.front(), error);
}

ChildProcess::~ChildProcess() {
  close_input();
  ::close(output_);
  if (pid_ > 0 && !status_) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
}

std::optional<std::string> ChildProcess::read_line(std::chrono::seconds limit) {
  for (;;) {
    if (const std::size_t end = buffer_.find('\n'); end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    if (!readable(output_, limit))
      throw std::runtime_error("a child process wrote nothing in time");
    std::array<char, 65536> bytes{};
    const ssize_t got = ::read(output_, bytes.data(), bytes.size());
    if (got < 0 && errno != EINTR) fail("read", errno);
    if (got > 0) buffer_.append(bytes.data(), static_cast<std::size_t>(got));
    if (got == 0) {
      if (buffer_.empty()) return std::nullopt;
      return std::exchange(buffer_, {});
    }
  }
}

void ChildProcess::write_line(const std::string& line) {
  const std::string bytes = line + '\n';
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t written = ::write(input_, bytes.data() + done, bytes.size() - done);
    if (written < 0 && errno != EINTR) fail("write to a child process", errno);
    if (written > 0) done += static_cast<std::size_t>(written);
  }
}

void ChildProcess::close_input() {
  if (input_ >= 0) ::close(std::exchange(input_, -1));
}

void ChildProcess::kill(int signal) { ::kill(pid_, signal); }

int ChildProcess::wait(std::chrono::seconds limit) {
  if (status_) return *status_;
  const int watched = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  if (watched < 0) fail("pidfd_open", errno);
  const bool ended = readable(watched, limit);
  ::close(watched);
  if (!ended) throw std::runtime_error("a child process did not end in time");
  int status = 0;
  if (::waitpid(pid_, &status, 0) != pid_) fail("waitpid", errno);
  status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return *status_;
}

}  // namespace threadstore::test
