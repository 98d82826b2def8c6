#pragma once

#include <string>

#include "threadstore/time.h"

namespace threadstore::cli {

/// A time as people read it, in the local zone: "14:05" today, "12 Mar 14:05" this year,
/// "2023-03-12 14:05" otherwise.
std::string short_local_time(UnixSeconds when, UnixSeconds now);

}  // namespace threadstore::cli
