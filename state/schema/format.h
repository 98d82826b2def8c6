#pragma once

#include <vector>

#include "state/db/migrations.h"

namespace threadstore::state {

/// Steps 1 to 5 of the format that `PRAGMA user_version` counts.
std::vector<db::Step> format_steps();

/// Step 2, the workflow trace: five tables and their indexes.
void create_workflow_trace(db::Session& session);

}  // namespace threadstore::state
