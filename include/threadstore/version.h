#pragma once

#include <string_view>

namespace threadstore {

/// "MAJOR.MINOR.PATCH" of the library that the program runs with.
std::string_view version() noexcept;

}  // namespace threadstore
