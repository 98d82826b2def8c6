#pragma once

#include <filesystem>

#include "exchange/format.h"

namespace threadstore::exchange {

/// Reads the beginning of a file, or the names of a database's tables. Throws `not_found`, `io`,
/// `damaged` (a database that cannot be opened, a broken compressed file).
Head read_head(const std::filesystem::path& file);

}  // namespace threadstore::exchange
