#pragma once

#include "cli/output/json.h"
#include "threadstore/runs.h"

namespace threadstore::cli {

/// A step as `run steps` shows it.
Json step_json(const RunStep& step);
/// A deferred approval, with the members of a call's approval (`approval_json`).
Json request_json(const DeferredApproval& request);
/// `run usage`: what was charged, what the run used itself, and its tree by model.
Json usage_report_json(const Run& run, const UsageReport& report);

// Entries of `run trace`: sequence, at, list, kind, step, and what the list tells.
Json audit_json(const PolicyEvent& event);
Json audit_json(const DelegationEvent& event);
Json audit_json(const SandboxEvent& event);
Json audit_json(const StepEvent& event);

}  // namespace threadstore::cli
