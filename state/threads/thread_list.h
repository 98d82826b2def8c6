#pragma once

#include <string>

#include "threadstore/threads.h"

namespace threadstore::state {

/// Where a thread stands in the list's order, latest first.
struct ThreadPosition {
  UnixSeconds updated_at = 0;
  ThreadId id;

  friend auto operator<=>(const ThreadPosition&, const ThreadPosition&) = default;
};

/// The opaque text of `Page::next`, and back. Throws `invalid_argument` for any other text.
std::string write_cursor(const ThreadPosition& position);
ThreadPosition read_cursor(const std::string& cursor);

// The statements of `Threads::list` and `count`, for the tests of their query plans.
std::string list_sql();
std::string count_sql();

}  // namespace threadstore::state
