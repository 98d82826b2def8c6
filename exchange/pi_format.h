#pragma once

#include <memory>

#include "exchange/format.h"

namespace threadstore::exchange {

/// pi sessions, versions 1 to 3.
std::unique_ptr<Format> make_pi_format();

}  // namespace threadstore::exchange
