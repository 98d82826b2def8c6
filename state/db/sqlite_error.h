#pragma once

#include <string>
#include <string_view>

#include "threadstore/error.h"

struct sqlite3;

namespace threadstore::db {

/// The one place that turns SQLite result codes into `Error`. `doing` completes "cannot …"
/// ("write to the store"); `file` is the database. Never includes bound values.
Error sqlite_error(int code, sqlite3* connection, std::string_view doing, std::string_view file);

[[noreturn]] void throw_sqlite(int code, sqlite3* connection, std::string_view doing,
                               std::string_view file);

/// The fate of a COMMIT that failed with `code` is not known: the disk refused after the commit
/// record may have reached it (an I/O error is not a rollback). A full disk is not of this kind:
/// the record is the last thing written, and it was not.
bool leaves_commit_unknown(int code);

}  // namespace threadstore::db
