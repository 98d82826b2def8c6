#pragma once

#include <memory>
#include <string>

#include "cli/chat/signals.h"

namespace threadstore::cli {

/// What came from the user.
struct Input {
  enum class Kind {
    line,
    interrupted,  ///< Ctrl-C: what was typed is dropped
    end,          ///< Ctrl-D, the end of the input, or a request to end the program
  };
  Kind kind = Kind::end;
  std::string text{};  ///< without its line break; may hold some when pasted; any bytes
};

/// Where a chat's lines come from.
class LineReader {
 public:
  virtual ~LineReader() = default;

  /// Waits for a line. The prompt (one line, already safe to print) is only for a person.
  virtual Input read(const std::string& prompt) = 0;

  /// Puts a line where the arrow keys and Ctrl-R find it.
  virtual void remember(const std::string& line) = 0;
};

/// Lines from a descriptor, for a script: no prompt, no history. A last line without a line break
/// counts; a carriage return before the break does not.
std::unique_ptr<LineReader> read_lines_of(int descriptor, Signals& signals);

/// Lines typed on the terminal of standard input and output, with editing, history and search. A
/// paste of several lines (bracketed paste) and Alt-Enter put line breaks into one input.
std::unique_ptr<LineReader> read_lines_of_terminal(Signals& signals);

}  // namespace threadstore::cli
