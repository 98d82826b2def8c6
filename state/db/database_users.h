#pragma once

#include <filesystem>
#include <string>

namespace threadstore::db {

/// Which processes write to, or read, a WAL database at this moment, of any program, this one
/// included: "process 4711 (sqlite3)", joined by ", ". Empty when none is seen. SQLite's locks on
/// the -shm file tell; the file is not opened.
std::string who_writes(const std::filesystem::path& database);
std::string who_reads(const std::filesystem::path& database);

}  // namespace threadstore::db
