#include "cli/terminal/style.h"

#include <stdlib.h>
#include <unistd.h>

namespace threadstore::cli {
namespace {

bool environment_is(const char* name, std::string_view value) {
  const char* found = ::getenv(name);
  return found != nullptr && value == found;
}

bool terminal_takes_color(int descriptor) {
  const char* no_color = ::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  return ::isatty(descriptor) == 1 && !environment_is("TERM", "dumb");
}

// Only the eight basic colours: every theme makes them readable on its own background.
std::string_view sequence(Tone tone) {
  switch (tone) {
    case Tone::plain:
      return "";
    case Tone::strong:
      return "\x1b[1m";
    case Tone::faint:
      return "\x1b[2m";
    case Tone::user:
      return "\x1b[1;34m";
    case Tone::assistant:
      return "\x1b[1;32m";
    case Tone::system:
      return "\x1b[1;35m";
    case Tone::tool:
      return "\x1b[36m";
    case Tone::mark:
      return "\x1b[1;33m";
    case Tone::good:
      return "\x1b[32m";
    case Tone::warning:
      return "\x1b[33m";
    case Tone::bad:
      return "\x1b[31m";
  }
  return "";
}

}  // namespace

Style Style::for_descriptor(ColorMode mode, int descriptor) {
  switch (mode) {
    case ColorMode::always:
      return Style(true);
    case ColorMode::never:
      return Style(false);
    case ColorMode::automatic:
      break;
  }
  return Style(terminal_takes_color(descriptor));
}

std::string Style::paint(Tone tone, std::string_view text) const {
  const std::string_view start = sequence(tone);
  if (!colored_ || start.empty() || text.empty()) return std::string(text);
  std::string out(start);
  out += text;
  out += "\x1b[0m";
  return out;
}

Tone tone_of_role(std::string_view role) {
  if (role == "user") return Tone::user;
  if (role == "assistant") return Tone::assistant;
  if (role == "system" || role == "developer") return Tone::system;
  if (role == "tool" || role == "function") return Tone::tool;
  return Tone::strong;
}

}  // namespace threadstore::cli
