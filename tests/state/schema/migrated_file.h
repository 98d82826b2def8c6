#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "state/db/migrations.h"
#include "state/schema/schema.h"
#include "tests/support/temp_dir.h"

namespace threadstore::test {

/// Opens the file as a store does: migrated, and nothing else.
inline std::shared_ptr<db::Database> open_migrated(const std::filesystem::path& file) {
  const auto inspect = [&](db::Session& session) {
    db::is_current(session, state::state_schema(), file.string());
  };
  auto database = db::Database::open(file, {.inspect = inspect});
  db::migrate(*database, state::state_schema(), {});
  return database;
}

/// A copy of a fixture's database in `directory`.
inline std::filesystem::path copy_of(const std::string& name, const TempDir& directory) {
  const std::filesystem::path file = directory / "state.db";
  std::filesystem::copy_file(fixture(name) / "state.db", file);
  std::filesystem::permissions(file, std::filesystem::perms(0600));
  return file;
}

/// All rows of a query, each as "a|b|c" with "-" for null.
inline std::vector<std::string> rows(db::Database& database, const std::string& sql) {
  return database.read([&](db::Session& session) {
    return session.all(sql, {}, [](const db::Row& row) {
      std::string line;
      for (int column = 0; column < row.columns(); ++column) {
        if (column > 0) line += '|';
        line += row.is_null(column) ? "-" : row.text(column);
      }
      return line;
    });
  });
}

}  // namespace threadstore::test
