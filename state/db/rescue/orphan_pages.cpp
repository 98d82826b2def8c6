#include "state/db/rescue/orphan_pages.h"

namespace threadstore::db {

void each_orphan(const PageFile& pages, const std::vector<bool>& reached,
                 const std::function<void(std::uint32_t number, const LeafPage& leaf)>& visit) {
  const std::vector<bool> free = pages.free_pages();
  for (std::uint32_t number = 2; number <= pages.count(); ++number) {
    if (reached[number] || free[number]) continue;
    if (const auto leaf = LeafPage::of(pages, number, pages.read(number))) visit(number, *leaf);
  }
}

}  // namespace threadstore::db
