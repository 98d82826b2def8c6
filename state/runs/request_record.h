#pragma once

#include <optional>
#include <string>

#include "state/runs/run_record.h"
#include "threadstore/run_requests.h"

namespace threadstore::state {

/// `SELECT … FROM run_approvals AS a JOIN runs AS r … WHERE a.call_id IS NULL AND r.workspace_id =
/// ?1 AND <visible>`: append " AND …".
extern const std::string select_requests;
DeferredApproval read_request(const db::Row& row);

std::optional<DeferredApproval> find_request(db::Session& session, const RunScope& scope,
                                             RequestId request);
/// Throws `not_found`.
DeferredApproval get_request(db::Session& session, const RunScope& scope, RequestId request);

/// Stores a request with its event, in any lifecycle of the run.
RequestId insert_request(db::Session& session, const RunHead& run, const NewRequest& request,
                         const std::optional<std::string>& origin_id, UnixMillis now);

/// Stores a decision with its event, whoever decided; returns the event's sequence.
std::int64_t store_decision(db::Session& session, const RunId& run, RequestId request,
                            ApprovalDecision decision, const std::optional<std::string>& by,
                            const std::optional<std::string>& reason, UnixMillis now);

/// Throws `invalid_argument` unless it says who decides, in bounds.
void check_decision(const Decision& decision);
/// A run may be decided for while it works and while it waits for exactly that; throws `conflict`.
void require_open_to_decisions(const RunHead& run);

/// Decides a request that nobody decided; true when it did. `request` becomes what counts.
bool decide_request(db::Session& session, const RunScope& scope, DeferredApproval& request,
                    const Decision& decision);

/// Closes the undecided requests of a run, as denied by the store itself.
void close_requests(db::Session& session, const RunId& run, const char* reason, UnixMillis now);

}  // namespace threadstore::state
