#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "threadstore/session_index.h"

namespace threadstore::test {

/// What the index file says, by id: a reader that is too simple to be wrong. It reads the whole
/// file at every question, line by line, as docs/session_index.md says.
std::map<std::string, IndexEntry> reference_read(const std::filesystem::path& file);

std::map<std::string, IndexEntry> by_id(const std::vector<IndexEntry>& entries);

}  // namespace threadstore::test
