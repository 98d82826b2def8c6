#pragma once

#include <string>

namespace threadstore::exchange {

/// The id itself when it is a UUID, else a UUID (version 8) that is always the same for it: for
/// programs that take nothing else.
std::string uuid_for(const std::string& id);

}  // namespace threadstore::exchange
