#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace threadstore::cli {

/// The name that a mistyped word probably means: one that begins with it, or that one or two
/// letters away from it make.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& names);

}  // namespace threadstore::cli
