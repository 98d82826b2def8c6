#include "state/db/rescue/table_walk.h"

#include <string>

#include "state/db/rescue/byte_reader.h"

namespace threadstore::db {
namespace {

constexpr char kInnerOfTable = 0x05;
constexpr std::size_t kInnerHeader = 12;
constexpr int kDeepest = 20;  // what SQLite itself goes down

/// A page below an inner one, and the highest row number in it.
struct Child {
  std::uint32_t page = 0;
  std::int64_t last = 0;
};

std::vector<Child> children_of(const std::string& page, std::size_t start) {
  std::vector<Child> children;
  const std::uint64_t count = ByteReader(page, start + 3).number(2);
  ByteReader pointers(page, start + kInnerHeader);
  for (std::uint64_t i = 0; i < count && pointers.ok(); ++i) {
    ByteReader cell(page, pointers.number(2));
    Child child{.page = static_cast<std::uint32_t>(cell.number(4))};
    child.last = static_cast<std::int64_t>(cell.varint());
    children.push_back(cell.ok() ? child : Child{});
  }
  return children;
}

/// Damaged keys would send rows that can be read to where they do not belong.
bool can_be_believed(const std::vector<Child>& children, const RowRange& range) {
  std::int64_t before = range.first - 1;
  for (const Child& child : children) {
    if (child.page == 0 || child.last <= before || child.last > range.last) return false;
    before = child.last;
  }
  return true;
}

}  // namespace

void TableWalk::run(std::uint32_t root, const Visit& visit) {
  visit_ = &visit;
  walk(root, {}, 0);
  tidy(lost_);
}

void TableWalk::lose(const RowRange& range, std::uint32_t number, const char* what) {
  lost_.push_back({range, "page " + std::to_string(number) + ' ' + what});
}

void TableWalk::walk(std::uint32_t number, const RowRange& range, int depth) {
  const std::string page = pages_.read(number);
  if (page.empty()) return lose(range, number, "is not in the file");
  if (seen_[number] || depth > kDeepest) return lose(range, number, "is reached in a circle");
  if (const auto leaf = LeafPage::of(pages_, number, page)) {
    return walk_leaf(*leaf, number, range, depth == 0);
  }
  const std::size_t start = number == 1 ? kFileHeader : 0;
  if (page.size() <= start + kInnerHeader || page[start] != kInnerOfTable) {
    return lose(range, number, is_blank(page) ? "is blank" : "is no page of a table");
  }
  seen_[number] = true;
  walk_inner(page, start, range, depth);
}

void TableWalk::walk_leaf(const LeafPage& leaf, std::uint32_t number, const RowRange& range,
                          bool is_root) {
  bool any = is_root && leaf.numbers().empty();
  std::vector<LostRows> lost;
  leaf.each(
      range,
      [&](std::int64_t row, std::string_view record) {
        if ((*visit_)(row, record, range.contains(row))) {
          any = true;
        } else {
          lost.push_back({{row, row}, "it is no row of this table"});
        }
        return true;
      },
      [&](LostRows rows) { lost.push_back(std::move(rows)); });
  if (!any) return lose(range, number, "holds no row of this table");
  seen_[number] = true;
  lost_.insert(lost_.end(), lost.begin(), lost.end());
}

void TableWalk::walk_inner(const std::string& page, std::size_t start, const RowRange& range,
                           int depth) {
  const auto children = children_of(page, start);
  const auto right = static_cast<std::uint32_t>(ByteReader(page, start + 8).number(4));
  const bool exact = can_be_believed(children, range);
  std::int64_t first = range.first;
  for (const Child& child : children) {
    walk(child.page, exact ? RowRange{first, child.last} : range, depth + 1);
    if (exact) first = child.last + 1;
  }
  walk(right, {first, range.last}, depth + 1);
}

}  // namespace threadstore::db
