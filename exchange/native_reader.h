#pragma once

#include <memory>

#include "exchange/format.h"

namespace threadstore::exchange {

/// Our own JSON.
std::unique_ptr<Format> make_native_format();

}  // namespace threadstore::exchange
