#pragma once

#include "state/runs/run_scope.h"
#include "threadstore/foreign_trace.h"

namespace threadstore::db {
class Session;
}

namespace threadstore::state {

/// What of a trace the store has: a number for each list, which grow at their ends.
struct TraceKnown {
  bool there = false;
  bool went_on = false;  ///< there are events behind the imported ones
  std::size_t steps = 0, policy = 0, delegation = 0, sandbox = 0, resumes = 0;
  bool spawned_for = false;
  bool same_end = false;  ///< it stopped, or runs, as the trace says
  std::vector<DeferredApproval> requests{};
};

TraceKnown known_of(db::Session& session, const RunScope& scope, const ForeignTrace& trace);

/// Adds what is not known. The run must be there and not have gone on.
TakenRun add_to_trace(db::Session& session, const RunScope& scope, const ForeignTrace& trace,
                      const TraceKnown& known);
/// What `add_to_trace` would say.
TakenRun count_new(const ForeignTrace& trace, const TraceKnown& known);

}  // namespace threadstore::state
