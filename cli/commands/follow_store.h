#pragma once

#include <functional>

#include "cli/app/invocation.h"

namespace threadstore::cli {

/// Calls `look` with the command's store, at once and again after each commit of any process, until
/// it throws: `ReaderGone` when nobody reads standard output any more. A store that does not exist
/// yet is waited for, with a note.
[[noreturn]] void follow_store(Invocation& call,
                               const std::function<void(const StateStore&)>& look);

}  // namespace threadstore::cli
