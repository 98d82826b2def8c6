#pragma once

#include <string_view>

namespace threadstore::base {

// The library's log: see threadstore/logging.h for where the lines go. Thread-safe; a failing sink
// never reaches the caller. Control characters are shown escaped, so a path or a name cannot write
// to somebody's terminal. Message contents must never be logged.

void log_debug(std::string_view line) noexcept;
void log_info(std::string_view line) noexcept;
void log_warn(std::string_view line) noexcept;
void log_error(std::string_view line) noexcept;

}  // namespace threadstore::base
