#include "state/db/sqlite_error.h"

#include <sqlite3.h>

#include <cerrno>
#include <cstring>

namespace threadstore::db {
namespace {

std::string reason(int code, sqlite3* connection) {
  std::string text = sqlite3_errstr(code);
  if (connection != nullptr && sqlite3_extended_errcode(connection) == code) {
    text = sqlite3_errmsg(connection);
  }
  const int system_error = connection == nullptr ? 0 : sqlite3_system_errno(connection);
  const int primary = code & 0xff;
  if (system_error != 0 && (primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN)) {
    text += std::string(": ") + std::strerror(system_error);
  }
  return text;
}

IoReason cannot_open_reason(sqlite3* connection) {
  const int system_error = connection == nullptr ? 0 : sqlite3_system_errno(connection);
  if (system_error == EACCES || system_error == EPERM) return IoReason::permission;
  if (system_error == EROFS) return IoReason::read_only;
  if (system_error == ENOSPC || system_error == EDQUOT) return IoReason::disk_full;
  return IoReason::other;
}

}  // namespace

Error sqlite_error(int code, sqlite3* connection, std::string_view doing, std::string_view file) {
  const std::string what = "cannot " + std::string(doing) + " " + std::string(file) + ": ";
  const std::string why = reason(code, connection);
  if (code == SQLITE_READONLY_DBMOVED) {
    return {IoReason::store_replaced,
            what + "the file was moved or deleted while it was open; open the store again"};
  }
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorCode::busy, what + "another program holds its lock (" + why +
                                   "); nothing was changed, try again"};
    case SQLITE_NOTADB:
      return {ErrorCode::damaged, what + "it is not a SQLite database; nothing was changed"};
    case SQLITE_CORRUPT:
    case SQLITE_FORMAT:
      return {ErrorCode::damaged,
              what + "it is damaged (" + why + "); run 'threadstore doctor' to see what is wrong"};
    case SQLITE_FULL:
      return {IoReason::disk_full, what + "the disk is full; free some space and try again"};
    case SQLITE_READONLY:
      return {IoReason::read_only, what + "it is read-only (" + why + ")"};
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return {IoReason::permission, what + why};
    case SQLITE_CANTOPEN:
      return {cannot_open_reason(connection), what + why};
    case SQLITE_IOERR:
      return {cannot_open_reason(connection), what + why};
    case SQLITE_NOMEM:
      return {IoReason::other, what + "out of memory"};
    case SQLITE_CONSTRAINT:
      return {ErrorCode::conflict, what + why};
    case SQLITE_TOOBIG:
    case SQLITE_RANGE:
    case SQLITE_MISMATCH:
      return {ErrorCode::invalid_argument, what + why};
    default:
      // SQLITE_ERROR and the like: our statements are constant, so the schema is not what it was.
      return {ErrorCode::damaged,
              what + why + "; run 'threadstore doctor' to see what is wrong with the store"};
  }
}

void throw_sqlite(int code, sqlite3* connection, std::string_view doing, std::string_view file) {
  throw sqlite_error(code, connection, doing, file);
}

bool leaves_commit_unknown(int code) { return (code & 0xff) == SQLITE_IOERR; }

}  // namespace threadstore::db
