#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "state/runs/run_json.h"
#include "threadstore/run_audit.h"
#include "threadstore/run_log.h"

namespace threadstore::state {

// The audit lists as events of the log: their types, and their payloads both ways. What a payload
// lacks, or has in another type, reads as absent.

std::string_view event_type(PolicyKind kind);
std::string_view event_type(DelegationKind kind);
std::string_view event_type(SandboxKind kind);

/// The types of all events of a list, as SQL text: 'policy.refused', 'policy.decided'.
template <class Kind>
std::string event_types_sql();
/// Of the marks of steps.
std::string step_types_sql();

Payload event_payload(const PolicyEvent& event);
Payload event_payload(const DelegationEvent& event);
Payload event_payload(const SandboxEvent& event);

PolicyEvent read_policy(const RunEvent& event);
DelegationEvent read_delegation(const RunEvent& event);
SandboxEvent read_sandbox(const RunEvent& event);

/// The marks of one `step.committed` or `run.resumed`, added to `marks`.
void read_step_marks(const RunEvent& event, std::vector<StepEvent>& marks);

}  // namespace threadstore::state
