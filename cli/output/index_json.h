#pragma once

#include "cli/output/json.h"
#include "threadstore/session_index.h"

namespace threadstore::cli {

Json index_entry_json(const IndexEntry& entry);

/// {"ok","missing","extra","different"}: `ok` says how it is now.
Json difference_json(const IndexDifference& difference, bool ok);

}  // namespace threadstore::cli
