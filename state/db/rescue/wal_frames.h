#pragma once

#include <cstdint>
#include <unordered_map>

#include "base/files.h"

namespace threadstore::db {

/// The pages that a write-ahead log holds in the place of the database file's.
struct WalFrames {
  std::uint32_t page_size = 0;                         ///< 0: there is no log, or an empty one
  std::uint32_t page_count = 0;                        ///< of the database after the last commit
  std::unordered_map<std::uint32_t, std::int64_t> at;  ///< where in the log, by page number
};

/// Up to the last commit before the first frame whose checksum does not fit, as SQLite does when it
/// recovers: what follows was never acknowledged, or is from before the log's last reset.
/// Throws `io`.
WalFrames read_wal(const base::File& wal);

}  // namespace threadstore::db
