#pragma once

#include <filesystem>
#include <string>

namespace threadstore::base {

/// Who holds a lock on this file, for the text of an error: "process 4711 (chat), process 9 (vim)".
/// Empty when nobody is seen: a holder in another pid namespace or on another machine is invisible.
/// Reads /proc/locks and never opens the file itself.
std::string describe_lock_holders(const std::filesystem::path& file);

}  // namespace threadstore::base
