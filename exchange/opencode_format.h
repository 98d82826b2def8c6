#pragma once

#include <memory>

#include "exchange/format.h"

namespace threadstore::exchange {

/// opencode's database and what `opencode export` writes.
std::unique_ptr<Format> make_opencode_format();

}  // namespace threadstore::exchange
