#pragma once

#include <memory>

#include "exchange/format.h"

namespace threadstore::exchange {

/// Claude Code transcripts.
std::unique_ptr<Format> make_claude_format();

}  // namespace threadstore::exchange
