#include "state/db/read_only_plan.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include "base/files.h"
#include "state/db/wal_keeper.h"

namespace threadstore::db {
namespace {

namespace fs = std::filesystem;

constexpr int kBusyWait = 100;  // ms; a lock is no reason to copy

// True when SQLite says that the medium does not let it read the file in place.
bool refuses(const fs::path& database) {
  sqlite3* connection = nullptr;
  int code = sqlite3_open_v2(database.c_str(), &connection,
                             SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nullptr);
  if (code == SQLITE_OK) {
    never_checkpoint(connection);
    sqlite3_busy_timeout(connection, kBusyWait);
    code = sqlite3_exec(connection, "PRAGMA schema_version", nullptr, nullptr, nullptr);
  }
  sqlite3_close(connection);
  const int kind = code & 0xff;
  return kind == SQLITE_CANTOPEN || kind == SQLITE_READONLY;
}

bool allows(const fs::path& path, int mode) {
  return ::faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0;
}

std::string immutable_uri(const fs::path& database) {
  std::string uri = "file:";
  for (const char character : database.string()) {
    switch (character) {
      case '%':
        uri += "%25";
        break;
      case '?':
        uri += "%3f";
        break;
      case '#':
        uri += "%23";
        break;
      default:
        uri += character;
    }
  }
  return uri + "?immutable=1";
}

}  // namespace

ReadOnlyPlan plan_read_only(const fs::path& database) {
  const ReadOnlyPlan ordinary{.location = database.string()};
  const fs::path directory = fs::absolute(database).parent_path();
  if (allows(directory, W_OK) || !allows(database, R_OK) || !refuses(database)) return ordinary;

  const auto wal = base::file_status(database.string() + "-wal");
  if (!wal || wal->size == 0) {
    return {.way = ReadOnlyWay::immutable, .location = immutable_uri(fs::absolute(database))};
  }
  auto copy = std::make_shared<PrivateCopy>(database);
  std::string location = copy->file().string();
  return {.way = ReadOnlyWay::private_copy, .location = location, .copy = std::move(copy)};
}

}  // namespace threadstore::db
