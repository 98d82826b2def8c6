#pragma once

#include <string>

#include "cli/app/invocation.h"
#include "threadstore/runs.h"

namespace threadstore::cli {

/// The runs of the command's workspace: `--workspace`, else the real path of the current directory.
Runs runs_of(Invocation& call);

/// The runs of a thread's turns: `--workspace`, else the directory that it was started in.
Runs runs_of_thread(Invocation& call, const StateStore& store, const Thread& thread);

/// RUN: in this order a full id, a part of an id (at least 4 characters of its beginning or end),
/// `@last`, the newest run of the workspace. Throws `invalid_argument` listing the candidates when
/// several match, `not_found` when none does.
Run resolve_run(Invocation& call, const std::string& given);

}  // namespace threadstore::cli
