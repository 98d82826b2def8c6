#pragma once

#include <string>
#include <vector>

#include "state/db/session.h"

namespace threadstore::db {

/// What SQLite's integrity check finds wrong with the database, at most `most` findings; none when
/// the file is whole. SQLite also lists a page that the system did not let it read, and memory that
/// it did not get; that is no damage, and throws `io` (or `busy`).
std::vector<std::string> find_damage(Session& session, int most);

}  // namespace threadstore::db
