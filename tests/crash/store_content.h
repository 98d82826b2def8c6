#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "threadstore/state_store.h"

namespace threadstore::test {

/// All rows of all tables, sorted, as SQLite itself reads them; long values by length and hash.
/// Without what is not the caller's: lines that wait for the session index, and who holds a lease.
std::vector<std::string> content_of(const std::filesystem::path& database);

/// What is in one and not in the other, a few lines of it: "- lost row", "+ new row".
std::string difference(const std::vector<std::string>& expected,
                       const std::vector<std::string>& found);

/// What is wrong with an open store: failed checks of the doctor, an index that does not say what
/// the database says. Empty when it is sound.
std::string complaints_about(const StateStore& store);

}  // namespace threadstore::test
