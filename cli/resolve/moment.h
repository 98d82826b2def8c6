#pragma once

#include <string>

#include "threadstore/time.h"

namespace threadstore::cli {

/// A point in time as `--since` takes it: RFC 3339 (2026-03-01T12:00:00Z), a date (midnight, local
/// zone), Unix seconds, or an age before `now` (45s, 90m, 2h, 3d, 2w). Throws `invalid_argument`.
UnixSeconds parse_moment(const std::string& text, UnixSeconds now);

}  // namespace threadstore::cli
