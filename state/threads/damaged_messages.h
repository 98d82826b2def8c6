#pragma once

#include <vector>

#include "state/store_context.h"
#include "threadstore/messages.h"

namespace threadstore::state {

/// What `Messages::find_damaged` answers.
std::vector<DamagedMessage> find_damaged_messages(StoreContext& context, const Progress& progress);

}  // namespace threadstore::state
