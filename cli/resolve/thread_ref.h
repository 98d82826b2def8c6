#pragma once

#include <string>

#include "cli/app/invocation.h"
#include "threadstore/state_store.h"

namespace threadstore::cli {

/// THREAD: in this order a full id, a name (any case), a part of an id (at least 4 characters of
/// its beginning or end), `@last`. Throws `invalid_argument` listing the candidates when several
/// match, `not_found` when none does.
Thread find_thread(const StateStore& store, const std::string& given);

/// The same where something is deleted: only a full id or an exact name will do.
Thread find_thread_to_delete(const StateStore& store, const std::string& given);

/// `@last`: the most recently active thread of the current directory, archived ones aside.
Thread last_thread_here(const StateStore& store);

/// In the command's store; says so when there is none.
Thread resolve_thread(Invocation& call, const std::string& given);
Thread resolve_thread_to_delete(Invocation& call, const std::string& given);

}  // namespace threadstore::cli
