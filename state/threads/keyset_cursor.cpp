#include "state/threads/keyset_cursor.h"

#include <charconv>
#include <limits>
#include <string_view>

#include "threadstore/error.h"

// text = "c1-" at "-" order "-" id, the id as lower-case hexadecimal digits, none for lists without
// one: safe in a shell whatever bytes the id has. "c1" is the version of this text.
namespace threadstore::state {
namespace {

constexpr std::string_view prefix = "c1-";
constexpr std::string_view digits = "0123456789abcdef";

[[noreturn]] void throw_bad_cursor(const std::string& text) {
  throw Error(ErrorCode::invalid_argument,
              "cannot read on after \"" + text.substr(0, 80) +
                  "\": that is not a cursor; pass the 'next' of a page of this list as it was "
                  "given, or start again without one");
}

/// Takes "<number>-" off the front of the text.
std::optional<std::int64_t> take_number(std::string_view& text) {
  std::int64_t number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc() || end == text.data() + text.size() || *end != '-') return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return number;
}

std::optional<std::string> bytes_of(std::string_view hex) {
  if (hex.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const std::size_t high = digits.find(hex[i]);
    const std::size_t low = digits.find(hex[i + 1]);
    if (high == digits.npos || low == digits.npos) return std::nullopt;
    bytes += static_cast<char>(high << 4 | low);
  }
  return bytes;
}

}  // namespace

std::string KeysetCursor::str() const {
  std::string text = std::string(prefix) + std::to_string(at) + '-' + std::to_string(order) + '-';
  for (const char c : id) {
    const auto byte = static_cast<unsigned char>(c);
    text += digits[byte >> 4];
    text += digits[byte & 0xf];
  }
  return text;
}

KeysetCursor KeysetCursor::parse(const std::optional<std::string>& after) {
  constexpr auto highest = std::numeric_limits<std::int64_t>::max();
  if (!after) return {.at = highest, .order = highest, .id = ""};
  std::string_view rest = *after;
  if (!rest.starts_with(prefix)) throw_bad_cursor(*after);
  rest.remove_prefix(prefix.size());
  const auto at = take_number(rest);
  const auto order = at ? take_number(rest) : std::nullopt;
  auto id = order ? bytes_of(rest) : std::nullopt;
  if (!id) throw_bad_cursor(*after);
  return {.at = *at, .order = *order, .id = std::move(*id)};
}

void check_limit(std::size_t limit) {
  if (limit >= 1 && limit <= 1000) return;
  throw Error(ErrorCode::invalid_argument, "the limit of a list is 1 to 1000, not " +
                                               std::to_string(limit) +
                                               "; read on with the page's cursor");
}

}  // namespace threadstore::state
