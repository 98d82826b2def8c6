#pragma once

#include "cli/output/json.h"
#include "threadstore/threads.h"

namespace threadstore::cli {

/// THREAD of docs/cli.md: every column, the title as "name".
Json thread_json(const Thread& thread);

/// "forked_from": null, or where the thread came from.
Json fork_origin_json(const std::optional<ForkOrigin>& origin);

}  // namespace threadstore::cli
