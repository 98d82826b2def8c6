#pragma once

#include "cli/app/invocation.h"
#include "threadstore/messages.h"
#include "threadstore/threads.h"

namespace threadstore::cli {

// What a successful deletion leaves undone, said on standard error; the exit code stays 0. (That
// the index is behind after a change, the library says itself.)

void warn_about(Invocation& call, const RemovedThread& removed);
void warn_about(Invocation& call, const ClearedThread& cleared);

}  // namespace threadstore::cli
