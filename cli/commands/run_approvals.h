#pragma once

#include <optional>
#include <string>

#include "cli/app/invocation.h"
#include "threadstore/runs.h"

namespace threadstore::cli {

/// The number of "#12"; nothing for a call's id. Throws `invalid_argument` when none follows.
std::optional<RequestId> request_number(const std::string& given);

/// Decides a request of the run or of a run below it; throws `not_found` for another one's.
DeferredApproval decide_request(const Runs& runs, const Run& run, RequestId request,
                                const Decision& decision);

/// What deciding says.
void print_approval(Invocation& call, const RunApproval& approval);
void print_approval(Invocation& call, const DeferredApproval& request);

}  // namespace threadstore::cli
