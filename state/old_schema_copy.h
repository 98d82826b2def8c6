#pragma once

#include "state/store_context.h"

namespace threadstore::state {

/// For a store that was opened for reading: when its schema is older than ours, replaces the
/// context's database by a migrated copy in a private temporary directory, so that reading changes
/// nothing. The copy goes with the context. Throws `newer_format` like opening for writing.
void read_from_private_copy_when_old(StoreContext& context);

}  // namespace threadstore::state
