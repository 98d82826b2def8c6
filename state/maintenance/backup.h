#pragma once

#include <filesystem>

#include "state/store_context.h"
#include "threadstore/maintenance.h"

namespace threadstore::state {

/// What `StateStore::backup` does.
Backup back_up(StoreContext& context, const std::filesystem::path& file,
               const BackupOptions& options);

}  // namespace threadstore::state
