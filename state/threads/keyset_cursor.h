#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace threadstore::state {

/// The sort key of a page's last item: what lists order by, descending, ends with a unique id.
/// Its text is the opaque `Page::next`.
struct KeysetCursor {
  std::int64_t at = 0;
  std::int64_t order = 0;  ///< for lists that order by two numbers
  std::string id;

  friend auto operator<=>(const KeysetCursor&, const KeysetCursor&) = default;

  std::string str() const;
  /// Parses a filter's `after`; a key above all others when it is absent. Throws
  /// `invalid_argument` for text that no page gave.
  static KeysetCursor parse(const std::optional<std::string>& after);
};

/// Throws `invalid_argument` when `limit` is not 1 to 1,000.
void check_limit(std::size_t limit);

}  // namespace threadstore::state
