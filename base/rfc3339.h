#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "threadstore/time.h"

namespace threadstore::base {

/// The seconds of an RFC 3339 time, "2026-03-01T10:00:00.5+02:00"; fractions are cut off. Nothing
/// when the text is not exactly such a time.
std::optional<UnixSeconds> parse_rfc3339(std::string_view text);

/// The time in UTC, "2026-03-01T10:00:00.500Z". Times outside of the years 0 to 9999 become the
/// first or last moment of these.
std::string format_rfc3339(UnixMillis time);

}  // namespace threadstore::base
