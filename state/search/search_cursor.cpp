#include <bit>
#include <charconv>
#include <limits>

#include "state/search/search_index.h"
#include "state/threads/keyset_cursor.h"
#include "threadstore/error.h"

// The keyset text with: the score's bits, 1 when it counts, the message's id.
namespace threadstore::state {

SearchPosition SearchPosition::start(bool by_score) {
  return {.by_score = by_score,
          .last = {.id = MessageId{std::numeric_limits<std::int64_t>::max()},
                   .score = std::numeric_limits<double>::lowest()}};
}

std::string SearchPosition::str() const {
  const KeysetCursor cursor{.at = std::bit_cast<std::int64_t>(last.score),
                            .order = by_score ? 1 : 0,
                            .id = std::to_string(to_int(last.id))};
  return cursor.str();
}

SearchPosition SearchPosition::parse(const std::string& text) {
  const KeysetCursor cursor = KeysetCursor::parse(text);
  std::int64_t id = 0;
  const char* const end = cursor.id.data() + cursor.id.size();
  const auto [last, fault] = std::from_chars(cursor.id.data(), end, id);
  if (fault != std::errc() || last != end) {
    throw Error(ErrorCode::invalid_argument,
                "'" + text + "' is not a cursor: pass the 'next' of a page as it was given");
  }
  return {.by_score = cursor.order == 1,
          .last = {.id = MessageId{id}, .score = std::bit_cast<double>(cursor.at)}};
}

}  // namespace threadstore::state
