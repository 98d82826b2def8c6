#pragma once

#include <cstdint>
#include <string>

namespace threadstore::cli {

/// "1 run", "2 runs".
inline std::string counted(std::int64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace threadstore::cli
