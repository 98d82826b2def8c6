#pragma once

#include <string>

#include "threadstore/jobs.h"

namespace threadstore::cli {

/// Runs `sh -c command` for a claimed job, with THREADSTORE_JOB_ID, _NAME and _DETAIL in its
/// environment, and stores how it ended: `completed`, or `failed` with the exit status as detail
/// unless the command left one of its own. Throws `conflict` when the job was given to another
/// worker meanwhile. With `quiet_output` what the command prints goes to standard error.
Job work_on(Jobs& jobs, const ClaimedJob& claimed, const std::string& command, bool quiet_output);

}  // namespace threadstore::cli
