#pragma once

#include "cli/output/json.h"
#include "threadstore/runs.h"

namespace threadstore::cli {

/// "run show" of docs/cli.md.
Json run_json(const Run& run);
/// An event of "run events" and "run tail"; the payload stands there as it was stored.
Json event_json(const RunEvent& event);
Json call_json(const RunCall& call);
Json approval_json(const RunApproval& approval);
Json run_checkpoint_json(const RunCheckpoint& checkpoint);
Json artifact_json(const RunArtifact& artifact);
Json budgets_json(const RunBudgets& budgets);
Json usage_json(const RunUsage& usage);

}  // namespace threadstore::cli
