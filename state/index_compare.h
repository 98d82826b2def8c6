#pragma once

#include <vector>

#include "state/store_context.h"
#include "threadstore/session_index.h"

namespace threadstore::state {

/// What the index should say: every visible thread. Read in short snapshots of 1,000 rows.
std::vector<IndexEntry> index_entries(StoreContext& context);

/// How the index differs from the database in existence, name and path. What seems to differ is
/// looked at again, so that writers at work do not make false differences.
IndexDifference compare_index(StoreContext& context);

}  // namespace threadstore::state
