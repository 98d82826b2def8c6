#include "tests/cli/chat_program.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <stdexcept>

#include "tests/support/temp_dir.h"

namespace threadstore::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds deadline{30};

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (std::string& string : strings) out.push_back(string.data());
  out.push_back(nullptr);
  return out;
}

int exit_status(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void redirect(const std::filesystem::path& file, int flags, int descriptor) {
  const int opened = ::open(file.c_str(), flags, 0600);
  if (opened < 0 || ::dup2(opened, descriptor) < 0) ::_exit(126);
}

}  // namespace

std::vector<std::string> chat_command(const std::filesystem::path& home,
                                      const std::vector<std::string>& arguments) {
  std::vector<std::string> out{THREADSTORE_PROGRAM, "--home", home.string(), "chat"};
  out.insert(out.end(), arguments.begin(), arguments.end());
  return out;
}

ProgramRun run_program(const std::vector<std::string>& command, const std::string& input,
                       const std::filesystem::path& scratch) {
  write_file(scratch / "in", input);
  std::vector<std::string> words = command;
  const std::vector<char*> arguments = pointers_to(words);
  const pid_t child = ::fork();
  if (child == 0) {
    redirect(scratch / "in", O_RDONLY, STDIN_FILENO);
    redirect(scratch / "out", O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
    redirect(scratch / "err", O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
    ::alarm(60);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return {exit_status(status), read_file(scratch / "out"), read_file(scratch / "err")};
}

StateStore open_store(const std::filesystem::path& home) {
  return StateStore::open(home / "state.db");
}

Thread only_thread(const StateStore& store) {
  const std::vector<Thread> threads = store.threads().list().items;
  if (threads.size() != 1) {
    throw std::runtime_error("expected one thread, found " + std::to_string(threads.size()));
  }
  return threads.front();
}

std::vector<std::string> branch_of(const StateStore& store, const ThreadId& thread,
                                   std::optional<MessageId> leaf) {
  std::vector<std::string> out;
  for (const Message& message : store.messages().list(thread, {.leaf = leaf}).messages) {
    out.push_back(message.role + ": " + message.content);
  }
  return out;
}

TerminalProgram::TerminalProgram(const std::vector<std::string>& command) {
  std::vector<std::string> words = command;
  const std::vector<char*> arguments = pointers_to(words);
  winsize size{24, 80, 0, 0};
  pid_ = ::forkpty(&terminal_, nullptr, nullptr, &size);
  if (pid_ < 0) throw std::runtime_error("forkpty failed");
  if (pid_ == 0) {
    ::setenv("TERM", "xterm", 1);
    ::setenv("LC_ALL", "C", 1);
    ::setenv("NO_COLOR", "1", 1);
    ::unsetenv("HOME");
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
}

TerminalProgram::~TerminalProgram() {
  if (!ended_) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(terminal_);
}

// False at the end of the output.
bool TerminalProgram::read_some() {
  pollfd waiting{terminal_, POLLIN, 0};
  if (::poll(&waiting, 1, 100) <= 0) return true;
  std::array<char, 4096> bytes{};
  const ssize_t count = ::read(terminal_, bytes.data(), bytes.size());
  if (count <= 0) return false;
  transcript_.append(bytes.data(), static_cast<std::size_t>(count));
  return true;
}

void TerminalProgram::expect(const std::string& text) {
  const Clock::time_point end = Clock::now() + deadline;
  while (true) {
    if (const std::size_t at = transcript_.find(text, seen_); at != std::string::npos) {
      seen_ = at + text.size();
      return;
    }
    if (!read_some() || Clock::now() > end) {
      throw std::runtime_error("'" + text + "' did not appear; the terminal shows:\n" +
                               transcript_.substr(seen_));
    }
  }
}

void TerminalProgram::type(const std::string& keys) {
  std::size_t written = 0;
  while (written < keys.size()) {
    const ssize_t count = ::write(terminal_, keys.data() + written, keys.size() - written);
    if (count <= 0) throw std::runtime_error("typing failed");
    written += static_cast<std::size_t>(count);
  }
}

void TerminalProgram::resize(unsigned short columns, unsigned short rows) {
  const winsize size{rows, columns, 0, 0};
  ::ioctl(terminal_, TIOCSWINSZ, &size);
}

void TerminalProgram::kill(int signal) { ::kill(pid_, signal); }

int TerminalProgram::wait() {
  const Clock::time_point end = Clock::now() + deadline;
  int status = 0;
  while (::waitpid(pid_, &status, WNOHANG) == 0) {
    read_some();
    if (Clock::now() > end) throw std::runtime_error("did not end; it shows:\n" + transcript_);
  }
  ended_ = true;
  return exit_status(status);
}

}  // namespace threadstore::test
