#pragma once

#include "state/store_context.h"

namespace threadstore::state {

/// After messages were deleted: takes them out of the search index when there is one. False, and a
/// logged warning, when that failed: their text stays in `search.db` until a later deletion or a
/// rebuild. Outside of transactions only.
bool forget_deleted_in_search(StoreContext& context) noexcept;

}  // namespace threadstore::state
