#pragma once

#include <string_view>

namespace threadstore::exchange {

/// The page's style and script, without their elements. The script only adds comfort: without it
/// all branches stand one behind the other, and links lead from one to the other.
extern const std::string_view html_style;
extern const std::string_view html_script;

}  // namespace threadstore::exchange
