#pragma once

#include "threadstore/run_calls.h"

namespace threadstore::state {

/// What ending a call does: from which state, to which, with which event.
struct CallStep {
  CallStatus from;
  CallStatus to;
  const char* event_type;
};

/// Throws `invalid_argument` for the classes that only the store gives.
CallStep step_of(CallOutcomeClass outcome);

/// Throws `invalid_argument` when the outcome must not be stored.
void check_outcome(const CallOutcome& outcome, std::size_t most);

}  // namespace threadstore::state
