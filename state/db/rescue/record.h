#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "state/db/value.h"

namespace threadstore::db {

/// The fields of a stored row in the order of its table's columns; text and blobs point into its
/// bytes. Columns that were added after it was written are not among them. Nothing when the bytes
/// are not exactly one row.
std::optional<std::vector<Value>> read_record(std::string_view bytes);

}  // namespace threadstore::db
