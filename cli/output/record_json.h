#pragma once

#include "cli/output/json.h"
#include "threadstore/checkpoints.h"
#include "threadstore/goals.h"
#include "threadstore/jobs.h"
#include "threadstore/tools.h"

namespace threadstore::cli {

/// "checkpoint load" of docs/cli.md. The state stands there as it was stored; one that is not valid
/// JSON is given as a string, and the document carries "damaged": "state".
Json checkpoint_json(const Checkpoint& checkpoint);

/// "job show" of docs/cli.md.
Json job_json(const Job& job);

/// Every column of `thread_goals`.
Json goal_json(const Goal& goal);

Json tool_json(const Tool& tool);

}  // namespace threadstore::cli
