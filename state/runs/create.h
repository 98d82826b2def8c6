#pragma once

#include "state/runs/run_record.h"

namespace threadstore::state {

/// Throws `invalid_argument` when the run must not be made.
void check_new_run(const NewRun& run, std::size_t most);

/// The place in its parent's steps that a run is spawned from.
struct SpawnPlace {
  std::int64_t step = 0;
  std::int64_t ordinal = 0;
  std::string goal{};
};

/// What a new run hangs on. A parent with neither call nor place gets no event.
struct RunOrigin {
  std::optional<RunHead> parent{};
  std::optional<CallId> parent_call{};
  std::optional<SpawnPlace> place{};
  std::optional<MessageId> trigger{};
  std::optional<RunId> id{};       ///< for a run that has one already
  std::optional<UnixMillis> at{};  ///< when it was made, if not now
};

/// Throws `invalid_argument` unless the limit is 1 to 64.
void check_max_depth(std::int64_t max_depth);
/// Throws `conflict` when the parent is as deep as that.
void refuse_deeper(const RunHead& parent, std::int64_t max_depth);

/// Makes an active run with its first event. With a key that is known: the run of that key, when it
/// was asked for the same, else `conflict`.
RunId insert_run(db::Session& session, const RunScope& scope, const NewRun& run,
                 const RunOrigin& origin);

}  // namespace threadstore::state
