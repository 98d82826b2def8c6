#include "state/db/rescue/lost_rows.h"

#include <algorithm>
#include <utility>

namespace threadstore::db {

void take_out(std::vector<LostRows>& lost, const RowRange& found) {
  std::vector<LostRows> left;
  for (LostRows& part : lost) {
    const RowRange rows = part.rows;
    if (found.last < rows.first || rows.last < found.first) {
      left.push_back(std::move(part));
      continue;
    }
    if (rows.first < found.first) left.push_back({{rows.first, found.first - 1}, part.why});
    if (found.last < rows.last) left.push_back({{found.last + 1, rows.last}, part.why});
  }
  lost = std::move(left);
}

void tidy(std::vector<LostRows>& lost) {
  std::stable_sort(lost.begin(), lost.end(), [](const LostRows& a, const LostRows& b) {
    return a.rows.first < b.rows.first;
  });
  std::vector<LostRows> merged;
  for (LostRows& part : lost) {
    const bool follows = !merged.empty() && merged.back().why == part.why &&
                         part.rows.first - 1 <= merged.back().rows.last;
    if (follows) {
      merged.back().rows.last = std::max(merged.back().rows.last, part.rows.last);
    } else {
      merged.push_back(std::move(part));
    }
  }
  lost = std::move(merged);
}

}  // namespace threadstore::db
