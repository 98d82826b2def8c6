#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "state/db/rescue/leaf_page.h"

namespace threadstore::db {

/// The rows of one table, from its root down. A page that cannot be read costs the rows that its
/// parent says are below it, and no others; neither pages that point in a circle nor pages of
/// another table are gone into twice.
class TableWalk {
 public:
  /// A row that can be read. `in_place`: its number is one that may stand on its page; another one
  /// is damaged. Returns whether the record can be one of the table at all.
  using Visit = std::function<bool(std::int64_t number, std::string_view record, bool in_place)>;

  explicit TableWalk(const PageFile& pages)
      : pages_(pages), seen_(std::size_t{pages.count()} + 1) {}

  /// Throws `io`, and what `visit` throws.
  void run(std::uint32_t root, const Visit& visit);

  /// What could not be read.
  const std::vector<LostRows>& lost() const noexcept { return lost_; }
  /// By page number: what the walk took for pages of the table.
  const std::vector<bool>& pages() const noexcept { return seen_; }

 private:
  void walk(std::uint32_t number, const RowRange& range, int depth);
  void walk_leaf(const LeafPage& leaf, std::uint32_t number, const RowRange& range, bool is_root);
  void walk_inner(const std::string& page, std::size_t start, const RowRange& range, int depth);
  void lose(const RowRange& range, std::uint32_t number, const char* what);

  const PageFile& pages_;
  std::vector<bool> seen_;
  std::vector<LostRows> lost_;
  const Visit* visit_ = nullptr;
};

}  // namespace threadstore::db
