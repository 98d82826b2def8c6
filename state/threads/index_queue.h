#pragma once

#include "state/store_context.h"
#include "threadstore/ids.h"

namespace threadstore::state {

/// A revival takes back the tombstone of a thread that was removed under the same id; a change
/// never does, so that a late one cannot bring a removed thread back.
enum class IndexLine { change, revival };

/// In the transaction that changes a thread's id, name, path or existence: notes that its index
/// line is behind. What the line says is read later, under the index's lock: the thread as it is
/// then, or a tombstone when it is gone or being removed.
void queue_index_line(db::Session& session, const ThreadId& id, IndexLine line = IndexLine::change);

/// After the write that queued lines: appends them, until the call's deadline, and says whether
/// they still wait. Inside a transaction of this thread it is arranged for the outermost commit,
/// and the answer is true.
bool index_stays_behind(const std::shared_ptr<StoreContext>& context,
                        const base::Deadline& deadline);

}  // namespace threadstore::state
