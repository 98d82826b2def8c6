#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "state/store_context.h"
#include "threadstore/doctor.h"

namespace threadstore::state {

/// Every check, in the order in which a person should read them. A check that cannot be made is a
/// failed check, not an exception: the others still answer.
std::vector<Check> check_store(StoreContext& context);

/// What becomes of a check that the system does not let be made (`io`, `busy`). For a doctor it is
/// a failed check, like one that damage prevents; a verdict on a copy must not take it for damage.
enum class WhenRefused { fail_the_check, throw_error };

/// Those of them that look at the rows alone. Works on any copy of a store, also one of an older
/// schema, of which less can be checked.
std::vector<Check> check_content(StoreContext& context, WhenRefused when_refused);

StoreStats store_stats(StoreContext& context);

/// The store's files, as far as they have a fixed name; some may not exist.
std::vector<std::filesystem::path> store_files(const StoreContext& context);

/// Permissions that others than the owner have, as "0644"; empty when none, or without such a file.
std::string open_mode(const std::filesystem::path& file);

/// What processes that died left in the store's directory: halves of copies, of compactions. What a
/// living process is at is not among them.
std::vector<std::filesystem::path> left_over_temporaries(const StoreContext& context);

// The parts: files and library (doctor_files.cpp,
// doctor_temporaries.cpp), what SQLite and our own rules say of the content
// (doctor_content.cpp, doctor_schema.cpp), whether each row is what was stored
// (doctor_records.cpp), whether runs agree with their logs (doctor_runs.cpp), and what the search
// index is worth (doctor_search.cpp).
Check check_file_modes(StoreContext& context);
Check check_sqlite_version(StoreContext& context);
Check check_network(StoreContext& context);
Check check_wal_size(StoreContext& context);
Check check_temporaries(StoreContext& context);

Check check_integrity(StoreContext& context);
Check check_foreign_keys(StoreContext& context);
Check check_schema(StoreContext& context);
Check check_parents(StoreContext& context);
Check check_cycles(StoreContext& context);
Check check_leaves(StoreContext& context);
Check check_messages(StoreContext& context);
Check check_records(StoreContext& context);
Check check_runs(StoreContext& context);
Check check_removals(StoreContext& context);
Check check_leases(StoreContext& context);
Check check_index(StoreContext& context);
Check check_search(StoreContext& context);

}  // namespace threadstore::state
