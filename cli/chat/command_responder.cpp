#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "cli/chat/conversation_document.h"
#include "cli/chat/responder.h"

extern "C" char** environ;

namespace threadstore::cli {
namespace {

// A message must fit into memory several times over; nobody reads more.
constexpr std::size_t longest_output = std::size_t{100} << 20U;
// How often a command that got a signal is asked whether it ended, while others keep its output
// open.
constexpr int watch_interval_ms = 50;

void check(int error, const char* what) {
  if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

class Descriptor {
 public:
  explicit Descriptor(int value = -1) : value_(value) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const noexcept { return value_; }
  bool open() const noexcept { return value_ >= 0; }
  void reset(int value) {
    close();
    value_ = value;
  }
  void close() {
    if (value_ >= 0) ::close(value_);
    value_ = -1;
  }

 private:
  int value_;
};

struct Pipe {
  Descriptor read_end;
  Descriptor write_end;

  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) check(errno, "pipe");
    read_end.reset(ends[0]);
    write_end.reset(ends[1]);
  }
};

std::vector<std::string> environment_with(const std::string& name, const std::string& value) {
  std::vector<std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!std::string_view(*entry).starts_with(name + "=")) out.emplace_back(*entry);
  }
  out.push_back(name + "=" + value);
  return out;
}

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (std::string& string : strings) out.push_back(string.data());
  out.push_back(nullptr);
  return out;
}

// One run of a command. Ends its process group when it is left early.
class CommandRun {
 public:
  CommandRun(const std::string& command, const Conversation& conversation, Signals& signals)
      : signals_(signals), document_(conversation_document(conversation)) {
    start(command, conversation.thread.id.str());
    input_.read_end.close();
    output_.write_end.close();
    ::fcntl(input_.write_end.get(), F_SETFL, O_NONBLOCK);
    ::fcntl(output_.read_end.get(), F_SETFL, O_NONBLOCK);
  }

  ~CommandRun() {
    if (ended_) return;
    ::kill(-process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }

  CommandRun(const CommandRun&) = delete;
  CommandRun& operator=(const CommandRun&) = delete;

  Reply finish(const std::function<void(std::string_view)>& show) {
    Reply reply;
    std::string output;
    while (output_.read_end.open() && !abandoned()) {
      exchange(output, show);
      obey_signals(reply);
      if (output.size() > longest_output && !reply.too_long) {
        reply.too_long = true;
        ::kill(-process_, SIGKILL);
        output_.read_end.close();
      }
    }
    input_.write_end.close();
    while (!ended_) {
      signals_.wait(std::chrono::milliseconds(reap(WNOHANG) ? 0 : watch_interval_ms / 10));
      obey_signals(reply);
    }
    reply.text = to_valid_utf8(output, &reply.replaced);
    if (const int status = exit_status(); status != 0) reply.exit_status = status;
    return reply;
  }

 private:
  void start(const std::string& command, const std::string& thread_id) {
    posix_spawn_file_actions_t files{};
    posix_spawnattr_t attributes{};
    check(::posix_spawn_file_actions_init(&files), "posix_spawn");
    check(::posix_spawnattr_init(&attributes), "posix_spawn");
    ::posix_spawn_file_actions_adddup2(&files, input_.read_end.get(), STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&files, output_.write_end.get(), STDOUT_FILENO);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    std::vector<std::string> arguments{"sh", "-c", command};
    std::vector<std::string> environment = environment_with("THREADSTORE_THREAD_ID", thread_id);
    const int error = ::posix_spawn(&process_, "/bin/sh", &files, &attributes,
                                    pointers_to(arguments).data(), pointers_to(environment).data());
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&files);
    check(error, "starting /bin/sh");
  }

  // Moves what can be moved in both directions, so that neither side waits for the other for ever.
  void exchange(std::string& output, const std::function<void(std::string_view)>& show) {
    std::array<pollfd, 3> waiting{pollfd{output_.read_end.get(), POLLIN, 0},
                                  pollfd{signals_.descriptor(), POLLIN, 0},
                                  pollfd{input_.write_end.get(), POLLOUT, 0}};
    ::poll(waiting.data(), waiting.size(), interrupts_ > 0 ? watch_interval_ms : -1);
    signals_.acknowledge();
    if (waiting[2].revents != 0) feed();
    if (waiting[0].revents == 0) return;
    std::array<char, 65536> bytes{};
    const ssize_t count = ::read(output_.read_end.get(), bytes.data(), bytes.size());
    if (count > 0) {
      const std::string_view piece(bytes.data(), static_cast<std::size_t>(count));
      output += piece;
      show(piece);
    } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
      output_.read_end.close();
    }
  }

  // A command may end without reading all of its input: that is its right.
  void feed() {
    const ssize_t count =
        ::write(input_.write_end.get(), document_.data() + written_, document_.size() - written_);
    if (count > 0) written_ += static_cast<std::size_t>(count);
    const bool refused = count < 0 && errno != EAGAIN && errno != EINTR;
    if (refused || written_ == document_.size()) input_.write_end.close();
  }

  void obey_signals(Reply& reply) {
    const bool ending = signals_.end_requested() && interrupts_ < 2;
    if (!signals_.take_interrupt() && !ending) return;
    reply.interrupted = true;
    ++interrupts_;
    ::kill(-process_, interrupts_ == 1 ? SIGINT : SIGKILL);
    ::kill(-process_, SIGCONT);  // a stopped command would never see it
  }

  // After Ctrl-C the end of the command counts, not that of what it left in the background.
  bool abandoned() { return interrupts_ > 0 && reap(WNOHANG) && drained(); }

  bool drained() const {
    pollfd waiting{output_.read_end.get(), POLLIN, 0};
    return ::poll(&waiting, 1, 0) == 0;
  }

  bool reap(int flags) {
    if (!ended_ && ::waitpid(process_, &status_, flags) == process_) ended_ = true;
    return ended_;
  }

  int exit_status() const {
    return WIFSIGNALED(status_) ? 128 + WTERMSIG(status_) : WEXITSTATUS(status_);
  }

  Signals& signals_;
  std::string document_;
  std::size_t written_ = 0;
  Pipe input_;
  Pipe output_;
  pid_t process_ = -1;
  int status_ = 0;
  bool ended_ = false;
  int interrupts_ = 0;
};

class CommandResponder : public Responder {
 public:
  CommandResponder(std::string command, Signals& signals)
      : command_(std::move(command)), signals_(signals) {}

  Reply respond(const Question& question,
                const std::function<void(std::string_view)>& show) override {
    return CommandRun(command_, question.conversation(), signals_).finish(show);
  }

 private:
  std::string command_;
  Signals& signals_;
};

}  // namespace

std::unique_ptr<Responder> command_responder(std::string command, Signals& signals) {
  return std::make_unique<CommandResponder>(std::move(command), signals);
}

}  // namespace threadstore::cli
