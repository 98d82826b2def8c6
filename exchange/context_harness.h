#pragma once

#include "exchange/run_import.h"

namespace threadstore::exchange {

/// Whether a database with these tables holds context-harness runs.
bool is_context_harness(db::Session& session);

/// Takes all of its runs.
void read_context_harness(db::Session& session, RunImport& job);

}  // namespace threadstore::exchange
