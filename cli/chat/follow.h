#pragma once

#include "cli/chat/dialogue.h"
#include "threadstore/state_store.h"

namespace threadstore::cli {

/// Why following or waiting ended.
enum class HolderWatch {
  free,     ///< nobody alive holds the thread any more
  stopped,  ///< the user does not want to go on
};

/// Shows a thread that another program holds: the last messages, then every new one as it is
/// committed, of whichever branch. Writes nothing.
HolderWatch follow(Dialogue& dialogue, const StateStore& store, const ThreadId& thread);

/// Waits until nobody alive holds the thread.
HolderWatch wait_until_free(Dialogue& dialogue, const StateStore& store, const ThreadId& thread);

/// "threadstore chat, process 4711 on /dev/pts/3, since 14:05".
std::string describe_holder(const LeaseState& holder, UnixSeconds now);

}  // namespace threadstore::cli
