#include "cli/chat/signals.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace threadstore::cli {
namespace {

constexpr std::array watched{SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGCONT};

volatile sig_atomic_t interrupted = 0;
volatile sig_atomic_t resized = 0;
volatile sig_atomic_t continued = 0;
volatile sig_atomic_t ending = 0;
std::array<int, 2> wake{-1, -1};
std::array<struct sigaction, watched.size()> before{};

extern "C" void note_signal(int signal) {
  const int saved = errno;
  if (signal == SIGINT) interrupted = 1;
  if (signal == SIGTERM || signal == SIGHUP) ending = 1;
  if (signal == SIGWINCH) resized = 1;
  if (signal == SIGCONT) continued = 1;
  const char byte = 0;
  // A full pipe already wakes whoever waits.
  [[maybe_unused]] const ssize_t written = ::write(wake[1], &byte, 1);
  errno = saved;
}

}  // namespace

Signals::Signals() {
  if (::pipe2(wake.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    throw std::system_error(errno, std::generic_category(), "pipe");
  }
  interrupted = 0;
  resized = 0;
  continued = 0;
  ending = 0;
  for (std::size_t at = 0; at < watched.size(); ++at) {
    struct sigaction action {};
    action.sa_handler = note_signal;
    action.sa_flags = SA_RESTART;
    ::sigaction(watched[at], &action, &before[at]);
  }
}

Signals::~Signals() {
  for (std::size_t at = 0; at < watched.size(); ++at) {
    ::sigaction(watched[at], &before[at], nullptr);
  }
  ::close(wake[0]);
  ::close(wake[1]);
  wake = {-1, -1};
}

bool Signals::take_interrupt() {
  const bool was = interrupted != 0;
  interrupted = 0;
  return was;
}

bool Signals::take_resize() {
  const bool was = resized != 0;
  resized = 0;
  return was;
}

bool Signals::take_continue() {
  const bool was = continued != 0;
  continued = 0;
  return was;
}

bool Signals::end_requested() const { return ending != 0; }

int Signals::descriptor() const noexcept { return wake[0]; }

void Signals::acknowledge() {
  std::array<char, 64> bytes{};
  while (::read(wake[0], bytes.data(), bytes.size()) > 0) continue;
}

bool Signals::wait(std::chrono::milliseconds timeout) {
  if (interrupted == 0 && ending == 0) {
    pollfd waiting{descriptor(), POLLIN, 0};
    ::poll(&waiting, 1, static_cast<int>(timeout.count()));
    acknowledge();
  }
  return interrupted != 0 || ending != 0;
}

}  // namespace threadstore::cli
