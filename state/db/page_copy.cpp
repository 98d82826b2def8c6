#include "state/db/page_copy.h"

#include <sqlite3.h>

#include <memory>
#include <string>

#include "state/db/connection.h"
#include "state/db/sqlite_error.h"

namespace threadstore::db {
namespace {

constexpr int kStep = 256;  // pages between two calls of `progress`

using Handle = std::unique_ptr<sqlite3, int (*)(sqlite3*)>;

Handle open_target(const std::string& target) {
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(target.c_str(), &opened,
                                   SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  Handle handle(opened, sqlite3_close);
  if (code != SQLITE_OK) throw_sqlite(code, opened, "open", target);
  sqlite3_extended_result_codes(opened, 1);
  return handle;
}

}  // namespace

void copy_pages(Session& source, const std::filesystem::path& target,
                const std::function<void(std::int64_t, std::int64_t)>& progress) {
  // A deferred transaction has no snapshot before its first read. With one, a commit of somebody
  // else cannot make the copy begin again.
  source.value<std::int64_t>("PRAGMA schema_version");
  sqlite3* const from = source.connection().handle();
  const Handle to = open_target(target.string());
  sqlite3_backup* const copying = sqlite3_backup_init(to.get(), "main", from, "main");
  if (copying == nullptr) {
    throw_sqlite(sqlite3_extended_errcode(to.get()), to.get(), "write to", target.string());
  }
  int code = SQLITE_OK;
  try {
    while ((code = sqlite3_backup_step(copying, kStep)) == SQLITE_OK) {
      const int total = sqlite3_backup_pagecount(copying);
      if (progress) progress(total - sqlite3_backup_remaining(copying), total);
    }
  } catch (...) {
    sqlite3_backup_finish(copying);
    throw;
  }
  sqlite3_backup_finish(copying);
  if (code != SQLITE_DONE) throw_sqlite(code, nullptr, "copy to", target.string());
  // The pages say WAL like their source; a backup is one file.
  code = sqlite3_exec(to.get(), "PRAGMA journal_mode=DELETE", nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) throw_sqlite(code, to.get(), "write to", target.string());
}

}  // namespace threadstore::db
