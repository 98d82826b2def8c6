#pragma once

#include <string>

namespace threadstore::db {

/// True for the SQLite versions (as `sqlite3_libversion_number` counts them) in which a checkpoint
/// that meets another connection's reset of the WAL can lose committed pages: 3.7.0 to 3.51.2,
/// without 3.50.7 and later 3.50, 3.44.6 and later 3.44.
bool has_wal_reset_bug(int version);

/// The same for the library that this process runs with, which need not be the one it was built
/// with.
bool has_wal_reset_bug();

/// What a person should know about the SQLite library in use; empty when there is nothing.
std::string library_advice();

}  // namespace threadstore::db
