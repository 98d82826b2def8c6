#pragma once

#include <map>
#include <vector>

#include "threadstore/transfer.h"

namespace threadstore::db {
class Session;
}

// The rows that a run consists of, as they stand.
namespace threadstore::state {

/// Fills in all that a record has but `run`.
void read_rows(db::Session& session, RunRecord& record);

/// The row of `runs`, with neither usage of steps nor anything that belongs to it.
void insert_head(db::Session& session, const RunRecord& record,
                 const std::optional<std::string>& key);

/// Numbers of requests in a record, and in the store.
using RequestNumbers = std::map<std::int64_t, RequestId>;

/// Stores the requests under new numbers.
RequestNumbers insert_requests(db::Session& session, const RunRecord& record);
/// Stores events, whose approvals then name the numbers in the store.
void insert_events(db::Session& session, const RunId& run, const std::vector<RunEvent>& events,
                   const RequestNumbers& requests);
/// Everything else, and the sums of tokens of the run and those above it.
void insert_parts(db::Session& session, const RunRecord& record);

/// Brings a stored run up to a record with a longer log: adds what events are new, and takes the
/// row, calls, suspensions and checkpoints from the record.
void grow_run(db::Session& session, const RunRecord& record, const std::vector<RunEvent>& events);

}  // namespace threadstore::state
