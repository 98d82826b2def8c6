#include "state/db/exclusive_hold.h"

#include <sqlite3.h>

#include <string>

#include "base/lock_holders.h"
#include "state/db/sqlite_error.h"
#include "threadstore/error.h"

namespace threadstore::db {
namespace {

/// In this order: the first read takes the lock for good, before a WAL is opened; leaving the WAL
/// moves it into the file, safely, since nobody else is there to reset it.
constexpr const char* kTakeOver =
    "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=DELETE; BEGIN EXCLUSIVE";

[[noreturn]] void throw_in_use(const std::filesystem::path& database, const std::string& holders) {
  throw Error(ErrorCode::busy, "cannot replace " + database.string() + ": " +
                                   (holders.empty() ? "another program" : holders) +
                                   " has it open; end it, then try again. Nothing was changed");
}

}  // namespace

ExclusiveHold::ExclusiveHold(const std::filesystem::path& database, std::chrono::milliseconds wait)
    : handle_(nullptr, sqlite3_close) {
  sqlite3* opened = nullptr;
  int code = sqlite3_open_v2(database.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                             nullptr);
  handle_.reset(opened);
  if (code == SQLITE_OK) {
    sqlite3_busy_timeout(opened, static_cast<int>(wait.count()));
    code = sqlite3_exec(opened, kTakeOver, nullptr, nullptr, nullptr);
  }
  const int kind = code & 0xff;
  if (kind == SQLITE_OK) return;
  const Error failure = sqlite_error(code, opened, "take over", database.string());
  handle_.reset();  // our own locks must not count
  const std::string holders = base::describe_lock_holders(database);
  if (kind == SQLITE_BUSY || kind == SQLITE_LOCKED || !holders.empty()) {
    throw_in_use(database, holders);
  }
  if (kind != SQLITE_CORRUPT && kind != SQLITE_NOTADB) throw failure;
}

ExclusiveHold::~ExclusiveHold() = default;

}  // namespace threadstore::db
