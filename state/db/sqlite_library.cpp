#include "state/db/sqlite_library.h"

#include <sqlite3.h>

namespace threadstore::db {

bool has_wal_reset_bug(int version) {
  const bool fixed = version >= 3'051'003 || (version >= 3'050'007 && version < 3'051'000) ||
                     (version >= 3'044'006 && version < 3'045'000);
  return version >= 3'007'000 && !fixed;
}

bool has_wal_reset_bug() { return has_wal_reset_bug(sqlite3_libversion_number()); }

std::string library_advice() {
  if (!has_wal_reset_bug()) return {};
  return std::string("SQLite ") + sqlite3_libversion() +
         " can lose committed pages when a checkpoint races with another program's write (the "
         "WAL-reset bug, fixed in 3.51.3, 3.50.7 and 3.44.6). threadstore's own checkpoints avoid "
         "it; other programs that write to the same file with this library do not. Update SQLite "
         "where you can.";
}

}  // namespace threadstore::db
