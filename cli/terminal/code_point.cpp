#include "cli/terminal/code_point.h"

#include <locale.h>
#include <wchar.h>

#include <array>

namespace threadstore::cli {
namespace {

// The smallest value that needs a sequence of this many bytes.
constexpr std::array<char32_t, 5> smallest{0, 0, 0x80, 0x800, 0x10000};

std::size_t sequence_length(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return 2;
  if (first >= 0xE0 && first < 0xF0) return 3;
  if (first >= 0xF0 && first < 0xF5) return 4;
  return 0;
}

// Whether the second byte can follow the first: false already tells overlong forms, surrogates and
// values that are too large, before the sequence is complete.
bool second_fits(unsigned char first, unsigned char second) {
  switch (first) {
    case 0xE0:
      return second >= 0xA0;
    case 0xED:
      return second < 0xA0;
    case 0xF0:
      return second >= 0x90;
    case 0xF4:
      return second < 0x90;
    default:
      return true;
  }
}

// The character tables of the C library, reached through a UTF-8 locale of our own, so that the
// widths are the same under LANG=C.
locale_t utf8_locale() {
  static const locale_t locale = [] {
    for (const char* name : {"C.UTF-8", "C.utf8", "en_US.UTF-8"}) {
      const locale_t found = ::newlocale(LC_CTYPE_MASK, name, nullptr);
      if (found != nullptr) return found;
    }
    return static_cast<locale_t>(nullptr);
  }();
  return locale;
}

}  // namespace

CodePoint first_code_point(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const std::size_t length = sequence_length(byte(0));
  if (length == 0) return {};
  if (length == 1) return {CodePoint::Kind::valid, byte(0), 1};
  char32_t value = byte(0) & (0xFFU >> (length + 1));
  for (std::size_t at = 1; at < length; ++at) {
    if (at == text.size()) return {CodePoint::Kind::cut, 0, at};
    const unsigned char next = byte(at);
    if ((next & 0xC0U) != 0x80U || (at == 1 && !second_fits(byte(0), next))) return {};
    value = (value << 6U) | (next & 0x3FU);
  }
  if (value < smallest.at(length)) return {};
  return {CodePoint::Kind::valid, value, length};
}

std::size_t columns_of(char32_t value) {
  if (value < 0x7F) return value < 0x20 ? 0 : 1;
  const locale_t locale = utf8_locale();
  if (locale == nullptr) return 1;
  const locale_t before = ::uselocale(locale);
  const int columns = ::wcwidth(static_cast<wchar_t>(value));
  ::uselocale(before);
  return columns < 0 ? 0 : static_cast<std::size_t>(columns);
}

}  // namespace threadstore::cli
