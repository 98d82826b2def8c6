#include "state/db/session.h"

#include <sqlite3.h>

#include <string>

#include "state/db/connection.h"

namespace threadstore::db {

std::int64_t Session::run(std::string_view sql, Values values) {
  Connection::Running statement(connection_, sql, values);
  while (statement.step()) {
  }
  return sqlite3_stmt_readonly(statement.statement()) != 0
             ? 0
             : sqlite3_changes64(connection_.handle());
}

std::int64_t Session::insert(std::string_view sql, Values values) {
  run(sql, values);
  return sqlite3_last_insert_rowid(connection_.handle());
}

void Session::script(std::string_view sql) {
  connection_.script(std::string(sql).c_str(), "set up");
}

bool Session::rolled_back() const noexcept {
  return sqlite3_get_autocommit(connection_.handle()) != 0;
}

void Session::query(std::string_view sql, Values values,
                    const std::function<bool(const Row&)>& visit) {
  Connection::Running statement(connection_, sql, values);
  const Row row(statement.statement());
  while (statement.step()) {
    if (!visit(row)) return;
  }
}

}  // namespace threadstore::db
