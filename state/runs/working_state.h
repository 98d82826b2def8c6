#pragma once

#include <string_view>

#include "state/runs/run_record.h"
#include "threadstore/run_memory.h"

namespace threadstore::state {

// The working state is kept in two parts: the head, written with every event, and the list of the
// newest artifacts, written only when there is a new one. So an event costs the same however many
// events and artifacts the run has.

inline constexpr std::int64_t working_state_version = 1;
inline constexpr std::int64_t working_state_artifacts = 128;

/// Brings the state up to an event that was just appended; `run` is the row as it is now. Makes it
/// when there is none. Throws `conflict` when the revision is used up.
void project_event(db::Session& session, const RunHead& run, std::string_view event_type,
                   UnixMillis now);

/// The same with the newest event, after the row changed without one (an ancestor was charged).
void refresh_working_state(db::Session& session, const RunHead& run, UnixMillis now);

/// Makes both parts again; the revision goes on from whatever stood there.
void rebuild_working_state(db::Session& session, const RunHead& run, UnixMillis now);

/// Reads and verifies: what cannot be shown to be right is `unavailable`.
WorkingState inspect_working_state(db::Session& session, const RunHead& run);

}  // namespace threadstore::state
