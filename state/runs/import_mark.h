#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "state/runs/run_json.h"
#include "state/runs/run_record.h"

namespace threadstore::state {

// The first event of a run that came from another store says so: `imported` {source, id, through,
// state}. What is behind the event `through` happened here. `state` is what the source said of the
// run as a whole by then, for logs that do not tell it themselves.

/// What a source says of a run beside its log.
struct ImportedState {
  std::int64_t through = 0;
  RunLifecycle lifecycle = RunLifecycle::active;
  std::optional<RunOutcome> outcome{};
  std::optional<RunReason> reason_code{};
  std::optional<std::string> outcome_text{};
  std::optional<std::string> provider{};
  RunUsage own_usage{};
  RunUsage charges{};  ///< by runs below
};

/// Marks all events that the run has by now as imported.
void mark_imported(db::Session& session, const RunId& run,
                   const std::optional<ImportedState>& state = {});

/// The last imported event; 0 for a run that was made here.
std::int64_t imported_through(db::Session& session, const RunId& run);

/// Of the payload of a first event.
std::optional<ImportedState> read_imported_state(const Payload& payload);

}  // namespace threadstore::state
