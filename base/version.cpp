#include "threadstore/version.h"

namespace threadstore {

std::string_view version() noexcept { return THREADSTORE_VERSION; }

}  // namespace threadstore
