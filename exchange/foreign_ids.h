#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "threadstore/time.h"

namespace threadstore::exchange {

bool is_uuid(std::string_view text);

/// A UUID (version 8, RFC 9562: the maker's own scheme) that is always the same for the text.
std::string uuid_of_text(const std::string& text);

/// The id itself when it is a UUID, else one that is always the same for it: for programs that take
/// nothing else.
std::string uuid_for(const std::string& id);

/// The id of a run that another store counts: a UUID (version 7) that is always the same for it.
/// Runs of one source that started together are in the order of their numbers.
std::string run_uuid(const std::string& source, std::int64_t number, UnixMillis started_at);

}  // namespace threadstore::exchange
