#pragma once

#include <optional>
#include <string>
#include <vector>

#include "state/runs/run_record.h"
#include "threadstore/run_calls.h"

namespace threadstore::state {

/// `SELECT … FROM run_calls AS c WHERE c.run_id = ?1`: append " AND …".
extern const std::string select_calls;
RunCall read_call(const db::Row& row);

std::optional<RunCall> find_call(db::Session& session, const RunId& run, const CallId& call);
/// Throws `not_found`.
RunCall get_call(db::Session& session, const RunId& run, const CallId& call);
/// Throws `conflict`, completing "cannot <doing> call …", unless the call is in that state.
RunCall require_call(db::Session& session, const RunId& run, const CallId& call, CallStatus status,
                     const std::string& doing);
[[noreturn]] void throw_call_conflict(const RunCall& call, const std::string& doing,
                                      const std::string& why);

/// Stores how a call ended, with its event `type`; `extra` adds to the payload. Returns the event's
/// sequence.
std::int64_t store_outcome(db::Session& session, const RunCall& call, std::string_view type,
                           CallStatus status, const CallOutcome& outcome,
                           std::optional<std::int64_t> consecutive, UnixMillis now,
                           const std::string& answered_by = {});

/// Closes the approval of a call, if it is undecided, as denied by the store itself.
void close_approval(db::Session& session, const RunId& run, const CallId& call, const char* reason,
                    UnixMillis now);

extern const std::string select_approvals;
RunApproval read_approval(const db::Row& row);
std::optional<RunApproval> find_approval(db::Session& session, const RunId& run,
                                         const CallId& call);

}  // namespace threadstore::state
