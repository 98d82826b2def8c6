// raw_show FILE THREAD: the least that a process can do to show a thread: opens the store with the
// SQLite C API, reads the thread and its branch, prints it.

#include <sqlite3.h>

#include <cstdio>

namespace {

int fail(sqlite3* connection) {
  std::fprintf(stderr, "raw_show: %s\n", sqlite3_errmsg(connection));
  return 1;
}

const char* text(sqlite3_stmt* row, int column) {
  const void* bytes = sqlite3_column_text(row, column);
  return bytes == nullptr ? "" : static_cast<const char*>(bytes);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  sqlite3* connection = nullptr;
  if (sqlite3_open_v2(argv[1], &connection, SQLITE_OPEN_READWRITE, nullptr) != SQLITE_OK) {
    return fail(connection);
  }
  sqlite3_busy_timeout(connection, 5000);
  sqlite3_stmt* thread = nullptr;
  sqlite3_stmt* message = nullptr;
  if (sqlite3_exec(connection, "PRAGMA foreign_keys=ON; BEGIN", nullptr, nullptr, nullptr) != 0 ||
      sqlite3_prepare_v2(connection, "SELECT * FROM threads WHERE id = ?", -1, &thread, nullptr) !=
          SQLITE_OK ||
      sqlite3_prepare_v2(connection,
                         "SELECT role, content, parent_entry_id FROM messages WHERE id = ?", -1,
                         &message, nullptr) != SQLITE_OK) {
    return fail(connection);
  }
  sqlite3_bind_text(thread, 1, argv[2], -1, SQLITE_STATIC);
  if (sqlite3_step(thread) != SQLITE_ROW) return fail(connection);
  std::printf("%s  %s\n", text(thread, 12), text(thread, 0));
  sqlite3_int64 next = sqlite3_column_int64(thread, 21);
  while (next != 0) {
    sqlite3_bind_int64(message, 1, next);
    if (sqlite3_step(message) != SQLITE_ROW) return fail(connection);
    std::printf("%s\n%s\n", text(message, 0), text(message, 1));
    next = sqlite3_column_int64(message, 2);
    sqlite3_reset(message);
  }
  sqlite3_finalize(thread);
  sqlite3_finalize(message);
  sqlite3_close(connection);
  return 0;
}
