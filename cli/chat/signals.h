#pragma once

#include <chrono>

namespace threadstore::cli {

/// While it lives, the signals of a terminal are noted instead of acting: Ctrl-C, a closed terminal
/// or a request to end, a new window size, and going on after Ctrl-Z. One at a time in a process.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  /// Whether Ctrl-C was pressed since the last question.
  bool take_interrupt();
  /// Whether the terminal's size changed since then.
  bool take_resize();
  /// Whether the program was stopped (Ctrl-Z) and goes on.
  bool take_continue();
  /// SIGTERM or SIGHUP came: end in order. Stays true.
  bool end_requested() const;

  /// Readable from a signal on until `acknowledge`: poll it beside what you wait for.
  int descriptor() const noexcept;
  void acknowledge();

  /// Waits at most that long for an interrupt or a request to end; says whether one came. An
  /// interrupt is not taken.
  bool wait(std::chrono::milliseconds timeout);
};

}  // namespace threadstore::cli
