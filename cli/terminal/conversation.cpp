#include "cli/terminal/conversation.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <string>

#include "cli/terminal/item_summary.h"
#include "cli/terminal/local_time.h"
#include "cli/terminal/text.h"

namespace threadstore::cli {
namespace {

constexpr std::size_t indent = 2;

std::size_t text_width(const Look& look) {
  if (look.width == 0) return std::numeric_limits<std::size_t>::max();
  return std::max<std::size_t>(look.width, indent + 10) - indent;
}

}  // namespace

Look Look::for_standard_output(ColorMode color) {
  return {.style = Style::for_descriptor(color, STDOUT_FILENO),
          .width = ::isatty(STDOUT_FILENO) == 1 ? terminal_width(STDOUT_FILENO) : 0,
          .now = std::time(nullptr)};
}

void print_heading(std::ostream& out, const Message& message, const Look& look) {
  out << look.style.paint(tone_of_role(message.role), escape_for_terminal(message.role)) << ' '
      << look.style.paint(Tone::faint, "#" + std::to_string(to_int(message.id)) + "  " +
                                           short_local_time(message.created_at, look.now));
  if (message.checksum_mismatch) {
    out << "  "
        << look.style.paint(Tone::bad, "[damaged: these bytes are not those that were stored]");
  }
  out << '\n';
}

void print_message(std::ostream& out, const Message& message, const Look& look) {
  print_heading(out, message, look);
  const std::size_t width = text_width(look);
  const std::string margin(indent, ' ');
  if (!message.content.empty()) {
    std::string text = escape_for_terminal(message.content, Lines::multiple);
    if (text.back() == '\n') text.pop_back();
    for (const std::string& line : wrap(text, width)) {
      out << (line.empty() ? "" : margin) << line << '\n';
    }
  }
  const std::string summary =
      message.item ? item_summary(*message.item, message.item_damaged, message.content)
                   : std::string();
  if (!summary.empty()) {
    const std::string line = "[" + escape_for_terminal(summary) + "]";
    out << margin
        << look.style.paint(message.item_damaged ? Tone::bad : Tone::tool,
                            cut_to_width(line, width))
        << '\n';
  }
}

void print_conversation(std::ostream& out, const std::vector<Message>& messages, const Look& look) {
  bool first = true;
  for (const Message& message : messages) {
    if (!first) out << '\n';
    first = false;
    print_message(out, message, look);
  }
}

}  // namespace threadstore::cli
