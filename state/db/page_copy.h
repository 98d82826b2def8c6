#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "state/db/session.h"

namespace threadstore::db {

/// Copies the whole database as the session's transaction sees it, page by page, into `target`, an
/// empty file that nobody else knows. Writers go on meanwhile; the snapshot that is held lets the
/// WAL grow until the end. The copy is one file with a rollback journal: nothing lies beside it.
/// `progress` gets pages copied and pages in all. Not for a transaction that has written.
void copy_pages(Session& source, const std::filesystem::path& target,
                const std::function<void(std::int64_t, std::int64_t)>& progress);

}  // namespace threadstore::db
