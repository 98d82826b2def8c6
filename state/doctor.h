#pragma once

#include <vector>

#include "state/store_context.h"
#include "threadstore/doctor.h"

namespace threadstore::state {

/// Every check, in the order in which a person should read them. A check that cannot be made is a
/// failed check, not an exception: the others still answer.
std::vector<Check> check_store(StoreContext& context);

StoreStats store_stats(StoreContext& context);

// The parts: files and library (doctor_files.cpp), what SQLite and our own rules say of the content
// (doctor_content.cpp), and whether each row is what was stored (doctor_records.cpp).
Check check_file_modes(StoreContext& context);
Check check_sqlite_version(StoreContext& context);
Check check_wal_size(StoreContext& context);

Check check_integrity(StoreContext& context);
Check check_foreign_keys(StoreContext& context);
Check check_parents(StoreContext& context);
Check check_leaves(StoreContext& context);
Check check_messages(StoreContext& context);
Check check_records(StoreContext& context);
Check check_removals(StoreContext& context);
Check check_leases(StoreContext& context);
Check check_index(StoreContext& context);

}  // namespace threadstore::state
