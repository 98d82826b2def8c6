#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "state/runs/run_record.h"
#include "threadstore/run_steps.h"

namespace threadstore::state {

/// An active run with a living executor is in good hands: throws `conflict`, unless that is us.
void refuse_held(db::Session& session, const RunScope& scope, const RunId& run,
                 const std::string& doing);

/// Throws `conflict` for the same calls as need reconciliation (disposition.h).
void refuse_unsafe_call(db::Session& session, const RunId& run, const std::string& doing);

/// Logs that a run goes on, and behind which step.
void append_resumed(db::Session& session, const RunHead& before, std::string_view previous_status,
                    const std::optional<ResumePoint>& point, const std::string& detail,
                    UnixMillis now);

}  // namespace threadstore::state
