#pragma once

#include <string>

namespace threadstore::cli {

/// The directory as threads store it: absolute, symbolic links resolved as far as it exists, no
/// trailing slash.
std::string real_directory(const std::string& path);

/// The real path of the current directory. Throws `io` when it was removed.
std::string current_directory();

}  // namespace threadstore::cli
