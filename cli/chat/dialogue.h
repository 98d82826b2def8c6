#pragma once

#include <memory>
#include <ostream>
#include <string>

#include "cli/app/invocation.h"
#include "cli/chat/line_reader.h"
#include "cli/chat/signals.h"
#include "cli/terminal/conversation.h"

namespace threadstore::cli {

/// How a chat talks: with a person on a terminal (prompts, headings, asides in place), or with a
/// script (answers on standard output, everything else on standard error).
class Dialogue {
 public:
  explicit Dialogue(Invocation& call);

  bool interactive() const noexcept { return interactive_; }
  Signals& signals() noexcept { return signals_; }
  std::ostream& out() noexcept { return call_.out(); }
  const Style& style() const noexcept { return call_.style(); }
  Invocation& call() noexcept { return call_; }
  Look look() const;

  /// The next input. A blank line is a line.
  Input read(const std::string& prompt);
  void remember(const std::string& line) { lines_->remember(line); }

  /// Prints `question` and reads until the first letter of the answer is one of `letters`; an empty
  /// answer is the first of them. Returns 0 for Ctrl-C and the end of the input. Only interactive.
  char choose(const std::string& question, const std::string& letters);

  /// Something to know beside the conversation. Escaped here; `-q` silences it.
  void aside(const std::string& text);
  /// Something that went wrong or needs attention.
  void warn(const std::string& text);

 private:
  void say(Tone tone, const std::string& text);

  Invocation& call_;
  bool interactive_;
  Signals signals_;
  std::unique_ptr<LineReader> lines_;
};

}  // namespace threadstore::cli
