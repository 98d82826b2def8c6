#pragma once

#include <string>

#include "state/runs/run_record.h"
#include "threadstore/run_memory.h"

namespace threadstore::state {

/// Throws `invalid_argument` when the checkpoint must not be stored.
void check_checkpoint(const NewRunCheckpoint& checkpoint, std::size_t most);

/// Stores it with its event and drops what is older than the last ones. Returns its sequence.
std::int64_t insert_checkpoint(db::Session& session, const RunId& run,
                               const NewRunCheckpoint& checkpoint, UnixMillis now);

/// `SELECT …` of the checkpoints of the run ?1, and the reader of its rows.
extern const std::string select_checkpoints;
RunCheckpoint read_checkpoint(const db::Row& row);

}  // namespace threadstore::state
