#include "exchange/readable_text.h"

#include <array>

#include "base/rfc3339.h"
#include "base/utf8.h"

namespace threadstore::exchange {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// The picture of a control character in ASCII: U+2400 and on.
std::string picture(unsigned char control) {
  if (control == 0x7f) return "\xE2\x90\xA1";
  return std::string("\xE2\x90") + static_cast<char>(0x80 + control);
}

}  // namespace

std::string visible(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto c = static_cast<unsigned char>(text[at]);
    if (c >= 0x20 && c < 0x7f) {
      out += text[at++];
    } else if (c < 0x80) {
      const bool line_end = c == '\r' && text.substr(at + 1).starts_with('\n');
      if (c == '\n' || c == '\t') {
        out += text[at];
      } else if (!line_end) {
        out += picture(c);
      }
      ++at;
    } else {
      const base::CodePoint point = base::decode_utf8(text, at);
      const bool control = point.value >= 0x80 && point.value < 0xa0;
      out += point.valid && !control ? text.substr(at, point.length) : kReplacement;
      at += point.length;
    }
  }
  return out;
}

std::string one_line(std::string_view text, std::size_t characters) {
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos) return {};
  const std::string_view line = text.substr(start, text.find_first_of("\r\n", start) - start);
  const std::string_view part = base::cut_to_code_points(line, characters);
  return visible(part) + (part.size() < text.size() - start ? "…" : "");
}

std::string title_of(const Thread& thread) {
  if (thread.name && !thread.name->empty()) return one_line(*thread.name, 200);
  if (std::string preview = one_line(thread.preview, 80); !preview.empty()) return preview;
  return visible(thread.id.str());
}

std::string role_title(std::string_view role) {
  constexpr std::array<std::string_view, 5> known{"user", "assistant", "tool", "system",
                                                  "developer"};
  std::string title = visible(role);
  for (const std::string_view word : known) {
    if (role == word) title[0] = static_cast<char>(title[0] - 'a' + 'A');
  }
  return title.empty() ? "Message" : title;
}

std::string readable_time(UnixSeconds time) {
  constexpr UnixSeconds furthest = 253'402'300'799;
  const UnixSeconds shown = time > furthest ? furthest : (time < -furthest ? -furthest : time);
  std::string text = base::format_rfc3339(shown * 1000).substr(0, 16);
  text[10] = ' ';
  return text + " UTC";
}

}  // namespace threadstore::exchange
