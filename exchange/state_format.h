#pragma once

#include <memory>

#include "exchange/format.h"

namespace threadstore::exchange {

/// Another store's `state.db`, of this program or of the original, of any schema that can be read.
std::unique_ptr<Format> make_state_format();

}  // namespace threadstore::exchange
