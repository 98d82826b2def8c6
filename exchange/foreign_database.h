#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "state/db/database.h"

namespace threadstore::exchange {

/// Another program's database, opened so that nothing of it changes. Throws what opening throws.
std::shared_ptr<db::Database> open_foreign(const std::filesystem::path& file);

/// Whether the file begins like a SQLite database.
bool is_sqlite(const std::string& beginning);

std::vector<std::string> table_names(db::Database& database);

/// The names of a table's columns, in its order; none when there is no such table.
std::vector<std::string> column_names(db::Session& session, const std::string& table);

}  // namespace threadstore::exchange
