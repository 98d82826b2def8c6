#pragma once

#include <string>
#include <string_view>

#include "state/db/session.h"
#include "threadstore/workflow_trace.h"

/// What the five tables share when a record is started or finished.
namespace threadstore::state {

/// Throws `invalid_argument` when a field that must say something is empty.
void require_text(const std::string& text, std::string_view field, std::string_view record);

/// Throws `invalid_argument` when the JSON is not valid.
void require_json(const std::optional<std::string>& json, std::string_view field,
                  std::string_view record);

/// Throws `conflict` when the table has the id.
void require_free_id(db::Session& session, const std::string& table, const std::string& id);

void require_run(db::Session& session, const WorkflowRunId& run);
/// A branch or control node that is not of that run is `invalid_argument`.
void require_branch_of(db::Session& session, const WorkflowRunId& run, const BranchRunId& branch);
void require_control_node_of(db::Session& session, const WorkflowRunId& run,
                             const ControlNodeRunId& node);

/// Throws `invalid_argument` for `running`, which ends nothing.
void require_end(TraceStatus status);

/// Why an UPDATE of unfinished rows found none: `conflict` when the row is there, else `not_found`.
[[noreturn]] void throw_not_finished(db::Session& session, const std::string& table,
                                     const std::string& id);

}  // namespace threadstore::state
