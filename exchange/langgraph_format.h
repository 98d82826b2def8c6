#pragma once

#include <memory>

#include "exchange/format.h"

namespace threadstore::exchange {

/// LangGraph checkpoints in SQLite, of the JavaScript and the Python saver.
std::unique_ptr<Format> make_langgraph_format();

}  // namespace threadstore::exchange
