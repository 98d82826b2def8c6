#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "state/db/rescue/leaf_page.h"

namespace threadstore::db {

/// The pages with rows of some table that no page leads to any more: those not among `reached` (by
/// page number) and not in the list of free pages. Throws `io`.
void each_orphan(const PageFile& pages, const std::vector<bool>& reached,
                 const std::function<void(std::uint32_t number, const LeafPage& leaf)>& visit);

}  // namespace threadstore::db
