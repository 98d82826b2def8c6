#pragma once

#include <optional>
#include <string>

#include "state/runs/run_record.h"
#include "threadstore/run_memory.h"
#include "threadstore/runs.h"

namespace threadstore::state {

/// Ends the suspension of a run with an answer: the wait is added up, the row is active again, the
/// checkpoint (if any) and `run.continued` are logged.
void resume_suspended(db::Session& session, const RunHead& run, std::int64_t suspension_sequence,
                      const std::string& input, const std::optional<NewRunCheckpoint>& checkpoint,
                      UnixMillis now);

/// Ends a suspended run as cancelled; its open calls are closed.
void abandon_run(db::Session& session, const RunScope& scope, const RunHead& run,
                 const std::string& reason, UnixMillis now);

/// The newest suspension's sequence; throws `conflict` when the run has none that is open.
std::int64_t open_suspension(db::Session& session, const RunId& run);

/// `SELECT …` of the suspensions of the run ?1, and the reader of its rows.
extern const std::string select_suspensions;
RunSuspension read_suspension(const db::Row& row);

}  // namespace threadstore::state
