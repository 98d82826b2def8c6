#include "state/threads/keyset_cursor.h"

#include <charconv>
#include <limits>
#include <string_view>

#include "threadstore/error.h"

namespace threadstore::state {
namespace {

/// Takes "<number>." off the front of the text.
std::optional<std::int64_t> take_number(std::string_view& text) {
  std::int64_t number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc() || end == text.data() + text.size() || *end != '.') return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return number;
}

}  // namespace

std::string KeysetCursor::str() const {
  return std::to_string(at) + '.' + std::to_string(order) + '.' + id;
}

KeysetCursor KeysetCursor::parse(const std::optional<std::string>& after) {
  constexpr auto highest = std::numeric_limits<std::int64_t>::max();
  if (!after) return {.at = highest, .order = highest, .id = ""};
  std::string_view rest = *after;
  const auto at = take_number(rest);
  const auto order = at ? take_number(rest) : std::nullopt;
  if (!order) {
    throw Error(ErrorCode::invalid_argument,
                "'" + *after + "' is not a cursor: pass the 'next' of a page as it was given");
  }
  return {.at = *at, .order = *order, .id = std::string(rest)};
}

void check_limit(std::size_t limit) {
  if (limit >= 1 && limit <= 1000) return;
  throw Error(ErrorCode::invalid_argument,
              "the limit of a list is 1 to 1000, not " + std::to_string(limit));
}

}  // namespace threadstore::state
