#pragma once

#include <vector>

#include "state/runs/call_record.h"

namespace threadstore::state {

/// Calls that started, and that only their dead owner knew the end of, become indeterminate, each
/// with its event. A call that made a child run does not: the child tells. Returns those that are
/// indeterminate now.
std::vector<RunCall> mark_indeterminate(db::Session& session, const RunId& run, UnixMillis now);

/// In the order of request.
std::vector<RunCall> indeterminate_calls(db::Session& session, const RunId& run);

}  // namespace threadstore::state
