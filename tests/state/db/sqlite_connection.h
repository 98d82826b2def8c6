#pragma once

#include <sqlite3.h>

#include <filesystem>
#include <stdexcept>
#include <string>

#include "state/db/wal_keeper.h"

namespace threadstore::test {

/// Runs SQL and returns SQLite's code.
inline int try_sql(sqlite3* connection, const std::string& sql) {
  return sqlite3_exec(connection, sql.c_str(), nullptr, nullptr, nullptr);
}

inline void sql(sqlite3* connection, const std::string& text) {
  if (try_sql(connection, text) != SQLITE_OK) {
    throw std::runtime_error(text + ": " + sqlite3_errmsg(connection));
  }
}

/// The first column of the first row as text; empty for none.
inline std::string ask(sqlite3* connection, const std::string& text) {
  std::string answer;
  const auto first = [](void* out, int, char** columns, char**) {
    auto& kept = *static_cast<std::string*>(out);
    if (kept.empty() && columns[0] != nullptr) kept = columns[0];
    return 0;
  };
  if (sqlite3_exec(connection, text.c_str(), first, &answer, nullptr) != SQLITE_OK) {
    throw std::runtime_error(text + ": " + sqlite3_errmsg(connection));
  }
  return answer;
}

/// A connection to a WAL database that never checkpoints by itself. `vfs` null: the system's own.
inline db::ConnectionHandle open_sqlite(const std::filesystem::path& file,
                                        const char* vfs = nullptr) {
  sqlite3* connection = nullptr;
  const int code =
      sqlite3_open_v2(file.c_str(), &connection, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, vfs);
  db::ConnectionHandle handle(connection, sqlite3_close_v2);
  if (code != SQLITE_OK) throw std::runtime_error("open " + file.string());
  sqlite3_busy_timeout(connection, 5000);
  sql(connection,
      "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA journal_size_limit=16777216");
  db::never_checkpoint(connection);
  return handle;
}

}  // namespace threadstore::test
