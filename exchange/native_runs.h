#pragma once

#include <ostream>

#include "exchange/export_source.h"

namespace threadstore::exchange {

/// The thread's runs with all that belongs to them, parents before the runs below them.
void write_runs(ExportSource& source, std::ostream& out);

}  // namespace threadstore::exchange
