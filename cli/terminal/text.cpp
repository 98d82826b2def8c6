#include "cli/terminal/text.h"

#include <stdlib.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "cli/terminal/code_point.h"

namespace threadstore::cli {
namespace {

constexpr std::string_view ellipsis = "…";
constexpr std::size_t tab_stop = 8;

// Characters without a glyph that change how the text around them is shown.
bool reorders_or_hides(char32_t value) {
  return value == 0x061C || value == 0x180E || (value >= 0x200E && value <= 0x200F) ||
         (value >= 0x2028 && value <= 0x202E) || (value >= 0x2060 && value <= 0x206F) ||
         value == 0xFEFF || (value >= 0xFFF9 && value <= 0xFFFB) ||
         (value >= 0xE0000 && value <= 0xE007F);
}

void append_hex(std::string& out, unsigned value, std::size_t digits) {
  std::array<char, 8> buffer{};
  const auto end = std::to_chars(buffer.begin(), buffer.end(), value, 16).ptr;
  const auto length = static_cast<std::size_t>(end - buffer.begin());
  if (length < digits) out.append(digits - length, '0');
  out.append(buffer.begin(), end);
}

void append_byte_escape(std::string& out, char byte) {
  out += "\\x";
  append_hex(out, static_cast<unsigned char>(byte), 2);
}

void append_escaped(std::string& out, char32_t value, std::string_view bytes, Lines lines) {
  if (lines == Lines::multiple && (value == '\n' || value == '\t')) {
    out += bytes;
  } else if (value == '\n') {
    out += "\\n";
  } else if (value == '\t') {
    out += "\\t";
  } else if (value == '\r') {
    out += "\\r";
  } else if (value < 0x20 || (value >= 0x7F && value < 0xA0)) {
    out += "\\x";
    append_hex(out, value, 2);
  } else if (reorders_or_hides(value)) {
    out += "\\u{";
    append_hex(out, value, 4);
    out += '}';
  } else {
    out += bytes;
  }
}

// Walks over the characters of one line: `visit(bytes, columns)` returns false to stop.
template <class Visit>
void for_each_character(std::string_view line, const Visit& visit) {
  while (!line.empty()) {
    const CodePoint point = first_code_point(line);
    const std::size_t columns =
        point.kind == CodePoint::Kind::valid ? columns_of(point.value) : std::size_t{1};
    if (!visit(line.substr(0, point.bytes), columns)) return;
    line.remove_prefix(point.bytes);
  }
}

std::string expand_tabs(std::string_view line) {
  std::string out;
  std::size_t column = 0;
  for_each_character(line, [&](std::string_view bytes, std::size_t columns) {
    if (bytes == "\t") {
      const std::size_t gap = tab_stop - column % tab_stop;
      out.append(gap, ' ');
      column += gap;
    } else {
      out += bytes;
      column += columns;
    }
    return true;
  });
  return out;
}

// How much of the line fits into `width` columns; at least one character, with the combining ones
// that follow.
std::size_t fitting_bytes(std::string_view line, std::size_t width) {
  std::size_t bytes = 0;
  std::size_t used = 0;
  for_each_character(line, [&](std::string_view character, std::size_t columns) {
    if (used + columns > width && bytes != 0) return false;
    used += columns;
    bytes += character.size();
    return true;
  });
  return bytes;
}

void wrap_line(std::string_view line, std::size_t width, std::vector<std::string>& out) {
  while (true) {
    const std::size_t fits = fitting_bytes(line, width);
    if (fits >= line.size()) break;
    // The break goes before the last space that leaves something on both sides.
    std::size_t cut = line[fits] == ' ' ? fits : line.rfind(' ', fits);
    const std::size_t first_word = line.find_first_not_of(' ');
    if (cut == std::string_view::npos || cut <= first_word) cut = fits;
    std::string_view head = line.substr(0, cut);
    head = head.substr(0, head.find_last_not_of(' ') + 1);
    out.emplace_back(head);
    line.remove_prefix(cut);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line.empty()) return;
  }
  out.emplace_back(line);
}

}  // namespace

std::string EscapedStream::feed(std::string_view piece) {
  std::string out;
  held_ += piece;
  drain(false, out);
  return out;
}

std::string EscapedStream::finish() {
  std::string out;
  drain(true, out);
  return out;
}

void EscapedStream::drain(bool last, std::string& out) {
  std::string_view rest = held_;
  out.reserve(rest.size());
  while (!rest.empty()) {
    if (lines_ == Lines::multiple && rest[0] == '\r') {
      if (rest.size() == 1 && !last) break;
      if (rest.size() > 1 && rest[1] == '\n') rest.remove_prefix(1);
    }
    const CodePoint point = first_code_point(rest);
    if (point.kind == CodePoint::Kind::cut && !last) break;
    if (point.kind == CodePoint::Kind::valid) {
      append_escaped(out, point.value, rest.substr(0, point.bytes), lines_);
    } else {
      for (const char byte : rest.substr(0, point.bytes)) append_byte_escape(out, byte);
    }
    rest.remove_prefix(point.bytes);
  }
  held_.erase(0, held_.size() - rest.size());
}

std::string escape_for_terminal(std::string_view text, Lines lines) {
  EscapedStream stream(lines);
  std::string out = stream.feed(text);
  out += stream.finish();
  return out;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for_each_character(text, [&](std::string_view, std::size_t columns) {
    width += columns;
    return true;
  });
  return width;
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  width = std::max<std::size_t>(width, 2);  // room for one wide character
  std::vector<std::string> out;
  while (true) {
    const std::size_t end = text.find('\n');
    wrap_line(expand_tabs(text.substr(0, end)), width, out);
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

std::string cut_to_width(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return {};
  std::string out;
  std::size_t used = 1;  // the ellipsis
  for_each_character(text, [&](std::string_view bytes, std::size_t columns) {
    if (used + columns > width) return false;
    used += columns;
    out += bytes;
    return true;
  });
  out += ellipsis;
  return out;
}

std::string pad_to_width(std::string_view text, std::size_t width) {
  std::string out(text);
  const std::size_t used = display_width(text);
  if (used < width) out.append(width - used, ' ');
  return out;
}

std::string_view cut_at_code_point(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0U) == 0x80U) --bytes;
  return text.substr(0, bytes);
}

std::size_t terminal_width(int descriptor) {
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  std::size_t columns = 0;
  if (const char* text = ::getenv("COLUMNS"); text != nullptr) {
    const std::string_view value(text);
    std::from_chars(value.data(), value.data() + value.size(), columns);
  }
  return columns > 0 ? columns : 80;
}

}  // namespace threadstore::cli
