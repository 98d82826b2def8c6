#pragma once

#include <vector>

#include "state/store_context.h"
#include "threadstore/maintenance.h"

namespace threadstore::state {

/// What `StateStore::repair` does, but for the index.
std::vector<Repair> repair_store(StoreContext& context);

}  // namespace threadstore::state
