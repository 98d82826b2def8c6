#pragma once

#include <string>

#include "threadstore/time.h"

namespace threadstore::base {

/// A new UUID version 7 (RFC 9562): 48 bits of `now`, then randomness from the kernel. Ids of one
/// process are strictly increasing, also within one millisecond and when the clock is set back.
/// Thread-safe.
std::string make_uuid_v7(UnixMillis now);

}  // namespace threadstore::base
