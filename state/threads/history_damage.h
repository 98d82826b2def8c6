#pragma once

#include "threadstore/ids.h"

namespace threadstore::state {

// What a walk along parents meets only in a file that is damaged, or in which another program
// deleted messages. All but the last throw `damaged`.

/// The parent that `child` names does not exist.
[[noreturn]] void throw_missing_parent(MessageId child);
/// A walk came to `id` a second time.
[[noreturn]] void throw_parent_cycle(MessageId id);
/// `child`'s parent belongs to another thread although the child's owner is no fork.
[[noreturn]] void throw_foreign_parent(MessageId parent, MessageId child, const ThreadId& owner);
/// No damage: the thread was cleared or removed between two snapshots. Throws `conflict`.
[[noreturn]] void throw_vanished(const ThreadId& thread);

}  // namespace threadstore::state
