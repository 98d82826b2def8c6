#pragma once

#include <memory>

#include "exchange/format.h"

namespace threadstore::exchange {

/// Codex rollouts, `.jsonl` and `.jsonl.zst`, of all versions since 0.42.
std::unique_ptr<Format> make_codex_format();

}  // namespace threadstore::exchange
