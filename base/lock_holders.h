#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace threadstore::base {

/// Bytes of a file, both ends included. A flock covers all.
struct ByteRange {
  std::uint64_t first = 0;
  std::uint64_t last = UINT64_MAX;
};

/// Who holds a lock on these bytes of the file, for the text of an error: "process 4711 (chat),
/// process 9 (vim)". Empty when nobody is seen: a holder in another pid namespace or on another
/// machine is invisible. Reads /proc/locks and never opens the file itself.
std::string describe_lock_holders(const std::filesystem::path& file, ByteRange bytes = {});

}  // namespace threadstore::base
