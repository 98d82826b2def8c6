#pragma once

#include <cstdint>
#include <vector>

#include "state/store_context.h"
#include "threadstore/threads.h"

namespace threadstore::state {

/// A row of `thread_removals`: the thread, or its messages up to `up_to`, are deleted as far as
/// anybody can see; their rows are still being taken away.
struct Removal {
  ThreadId thread;
  bool whole_thread = true;  ///< false: a clearing, the thread stays
  MessageId up_to{};
};

/// In the transaction that makes it true: hides the thread's messages (and the thread) from every
/// read, and lets go of what it inherited. Replaces what an unfinished clearing had noted.
void hide(db::Session& session, const Removal& removal);

/// Takes the rows away in short transactions, with the writer gate free in between, and then the
/// removal itself. Returns false when deleted text may linger in the WAL. Can be run by several
/// processes at once. Inside a transaction it is part of that, and the text lingers until later.
bool reclaim(StoreContext& context, const Removal& removal, const Progress& progress);

/// Finishes what processes that died have begun. Leaves alone what a living one is at. To be called
/// when a store has been opened for writing; costs one tiny read when there is nothing to do.
/// Throws `busy` and `io` like any write: what is left then waits for the next opener.
void continue_removals(StoreContext& context);

/// Removals that are not finished yet.
std::vector<Removal> unfinished_removals(db::Session& session);

}  // namespace threadstore::state
