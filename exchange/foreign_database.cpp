#include "exchange/foreign_database.h"

namespace threadstore::exchange {

std::shared_ptr<db::Database> open_foreign(const std::filesystem::path& file) {
  return db::Database::open(file, {.mode = db::Mode::read_only});
}

bool is_sqlite(const std::string& beginning) {
  return beginning.starts_with(std::string("SQLite format 3\0", 16));
}

std::vector<std::string> table_names(db::Database& database) {
  return database.read([](db::Session& session) {
    return session.all("SELECT name FROM sqlite_master WHERE type = 'table'", {},
                       [](const db::Row& row) { return row.text(0); });
  });
}

std::vector<std::string> column_names(db::Session& session, const std::string& table) {
  return session.all("SELECT name FROM pragma_table_info(?)", {table},
                     [](const db::Row& row) { return row.text(0); });
}

}  // namespace threadstore::exchange
