#pragma once

#include <string>

namespace threadstore::state {

// The statements of `Threads::list` and `count`, for the tests of their query plans.
std::string list_sql();
std::string count_sql();

}  // namespace threadstore::state
