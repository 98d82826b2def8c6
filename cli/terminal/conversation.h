#pragma once

#include <cstddef>
#include <ostream>
#include <vector>

#include "cli/terminal/style.h"
#include "threadstore/messages.h"
#include "threadstore/time.h"

namespace threadstore::cli {

/// How to draw: colours, columns (0: lines are neither wrapped nor cut) and the time that short
/// times refer to.
struct Look {
  Style style{};
  std::size_t width = 80;
  UnixSeconds now = 0;

  /// For standard output: the terminal's width, 0 when it is not a terminal.
  static Look for_standard_output(ColorMode color);
};

/// The heading line of a message: role, id, short local time, marks of damage.
void print_heading(std::ostream& out, const Message& message, const Look& look);

/// Heading, text (escaped, wrapped, indented by two columns) and a line that sums up the item.
void print_message(std::ostream& out, const Message& message, const Look& look);

/// Messages with an empty line between them.
void print_conversation(std::ostream& out, const std::vector<Message>& messages, const Look& look);

}  // namespace threadstore::cli
