#pragma once

#include "state/runs/run_record.h"

namespace threadstore::state {

/// Throws `invalid_argument` when the run must not be made.
void check_new_run(const NewRun& run);

/// What a new run hangs on.
struct RunOrigin {
  std::optional<RunHead> parent{};
  std::optional<CallId> parent_call{};
  std::optional<MessageId> trigger{};
};

/// Makes an active run with its first event. With a key that is known: the run of that key, when it
/// was asked for the same, else `conflict`.
RunId insert_run(db::Session& session, const RunScope& scope, const NewRun& run,
                 const RunOrigin& origin);

}  // namespace threadstore::state
