#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "threadstore/threads.h"

namespace threadstore::exchange {

/// Valid UTF-8 whose control characters can be seen instead of obeyed: `␛` for an escape, U+FFFD
/// for those without a picture. Line feeds and tabs stay, a carriage return before a line feed
/// goes.
std::string visible(std::string_view text);

/// The first line that says something, visible, at most so many characters, `…` behind what was
/// cut.
std::string one_line(std::string_view text, std::size_t characters);

/// What to call a thread: its name, else its preview, else its id.
std::string title_of(const Thread& thread);

/// "User" for "user": roles as headings. Roles of other programs stay as they are.
std::string role_title(std::string_view role);

/// "2026-03-01 10:00 UTC".
std::string readable_time(UnixSeconds time);

}  // namespace threadstore::exchange
