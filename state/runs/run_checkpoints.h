#pragma once

#include "state/runs/run_record.h"
#include "threadstore/run_memory.h"

namespace threadstore::state {

/// Throws `invalid_argument` when the checkpoint must not be stored.
void check_checkpoint(const NewRunCheckpoint& checkpoint);

/// Stores it with its event and drops what is older than the last ones. Returns its sequence.
std::int64_t insert_checkpoint(db::Session& session, const RunId& run,
                               const NewRunCheckpoint& checkpoint, UnixMillis now);

}  // namespace threadstore::state
