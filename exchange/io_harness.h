#pragma once

#include "exchange/run_import.h"

namespace threadstore::exchange {

/// Whether a database with these tables is one of io-harness.
bool is_io_harness(db::Session& session);

/// Takes all of its runs. Throws `newer_format` before anything is stored.
void read_io_harness(db::Session& session, RunImport& job);

}  // namespace threadstore::exchange
