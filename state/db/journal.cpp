#include "state/db/journal.h"

#include <sqlite3.h>

#include <chrono>
#include <mutex>
#include <string>
#include <thread>

#include "state/db/gate.h"
#include "state/db/sqlite_error.h"

namespace threadstore::db {
namespace {

/// One attempt; the mode that SQLite answers with, or its error code in `code`.
std::string switch_mode(Connection& connection, const char* pragma, int& code) {
  std::string mode;
  code = sqlite3_exec(
      connection.handle(), pragma,
      [](void* out, int, char** values, char**) {
        if (values[0] != nullptr) *static_cast<std::string*>(out) = values[0];
        return 0;
      },
      &mode, nullptr);
  return mode;
}

}  // namespace

void settle_journal(const StoreFile& file, const Options& options) {
  const std::string wanted = file.target().network ? "truncate" : "wal";
  // Not a reader: closing it may be the last close of the file, which must then leave no WAL.
  Connection connection(file.target(), Role::guard);
  const auto deadline = base::Deadline::after(options.deadline);
  connection.set_deadline(deadline);
  const std::string present = connection.pragma("PRAGMA journal_mode");
  if (present == wanted) return;
  if (present == "wal") {
    options.notice("the store " + file.path().string() +
                   " is in WAL mode on a network file system, where SQLite can damage it: move it "
                   "to a local disk (threadstore backup makes a safe copy)");
    return;
  }

  const auto gate = WriterGate::for_database(file.path());
  gate->lock(deadline);
  const std::unique_lock held(*gate, std::adopt_lock);
  const std::string pragma = "PRAGMA journal_mode=" + wanted;
  for (;;) {
    int code = SQLITE_OK;
    const std::string mode = switch_mode(connection, pragma.c_str(), code);
    if (mode == wanted) return;
    if ((code & 0xff) == SQLITE_BUSY && !deadline.expired()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      continue;
    }
    if (code != SQLITE_OK) {
      throw_sqlite(code, connection.handle(), "open", file.path().string());
    }
    throw Error(IoReason::other, "cannot open " + file.path().string() +
                                     ": its journal mode stays '" + mode + "' where '" + wanted +
                                     "' is needed; the directory or its file system may not allow "
                                     "shared memory");
  }
}

}  // namespace threadstore::db
