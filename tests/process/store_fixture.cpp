#include "tests/process/store_fixture.h"

#include <sqlite3.h>

#include <cstdlib>
#include <stdexcept>

namespace threadstore::test {

std::vector<std::string> plain_query(const std::filesystem::path& database,
                                     const std::string& sql) {
  sqlite3* connection = nullptr;
  std::vector<std::string> values;
  const auto collect = [](void* out, int columns, char** texts, char**) {
    if (columns > 0) {
      static_cast<std::vector<std::string>*>(out)->emplace_back(texts[0] ? texts[0] : "null");
    }
    return 0;
  };
  const bool done =
      sqlite3_open_v2(database.c_str(), &connection, SQLITE_OPEN_READWRITE, nullptr) == SQLITE_OK &&
      sqlite3_busy_timeout(connection, 10'000) == SQLITE_OK &&
      sqlite3_exec(connection, sql.c_str(), collect, &values, nullptr) == SQLITE_OK;
  const std::string why = sqlite3_errmsg(connection);
  sqlite3_close(connection);
  if (!done) throw std::runtime_error(sql + ": " + why);
  return values;
}

void expect_whole(const StateStore& store) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(plain_query(store.path(), "PRAGMA integrity_check"), Lines{"ok"});
  EXPECT_EQ(plain_query(store.path(), "PRAGMA foreign_key_check"), Lines{});
  EXPECT_EQ(plain_query(store.path(), R"(
              SELECT id FROM threads
              WHERE current_leaf_id IS NOT NULL AND current_leaf_id NOT IN (SELECT id FROM messages))"),
            Lines{});
  EXPECT_EQ(plain_query(store.path(), R"(
              SELECT id FROM messages
              WHERE parent_entry_id IS NOT NULL AND parent_entry_id NOT IN (SELECT id FROM messages))"),
            Lines{});
  const IndexDifference difference = store.verify_index();
  EXPECT_EQ(difference.missing, std::vector<ThreadId>{});
  EXPECT_EQ(difference.extra, std::vector<ThreadId>{});
  EXPECT_EQ(difference.different, std::vector<ThreadId>{});
}

bool long_tests() {
  const char* wanted = std::getenv("THREADSTORE_LONG_TESTS");
  return wanted != nullptr && *wanted != '\0';
}

}  // namespace threadstore::test
