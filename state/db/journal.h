#pragma once

#include "state/db/database.h"
#include "state/db/store_file.h"

namespace threadstore::db {

/// Brings the journal mode to what the file needs: WAL, or a rollback journal for a new store on a
/// network file system. An established store pays no transition: the mode is read first. The
/// switch ignores SQLite's own waiting, so it is made behind the writer gate, and a holder that
/// does not know the gate is waited for within the deadline. Throws `io` naming the file and the
/// mode that stayed when SQLite refuses.
void settle_journal(const StoreFile& file, const Options& options);

}  // namespace threadstore::db
