#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace threadstore::db {

/// Row numbers from `first` to `last`; as a table has them when nothing says more.
struct RowRange {
  std::int64_t first = 1;
  std::int64_t last = std::numeric_limits<std::int64_t>::max();

  bool contains(std::int64_t number) const { return first <= number && number <= last; }
};

/// Beyond it JSON numbers are not exact, and the next row would soon have no number left: only
/// damage gives such a one.
constexpr std::int64_t kHighestRow = std::int64_t{1} << 53;

/// Row numbers between which nothing could be read or taken; some of them may never have been rows.
struct LostRows {
  RowRange rows{};
  std::string why{};
};

/// Takes rows that came to light out of what is lost; what lies on both sides of them stays.
void take_out(std::vector<LostRows>& lost, const RowRange& found);

/// In order, and neighbours with one reason as one.
void tidy(std::vector<LostRows>& lost);

}  // namespace threadstore::db
