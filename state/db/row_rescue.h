#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "state/db/connection.h"
#include "state/db/session.h"

namespace threadstore::db {

/// Row numbers between which nothing could be read or taken; some of them may never have been rows.
struct LostRows {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::string why{};
};

struct RescuedTable {
  std::int64_t rows = 0;
  std::vector<LostRows> lost{};
};

/// Copies the rows of a damaged database, table by table, into an empty one with the same tables;
/// foreign keys are not asked meanwhile. Each range is a transaction of its own: inside one, SQLite
/// writes nothing more once it has met damage. Nothing is synced; the destination is work in
/// progress.
///
/// `source` is a file of ours (see PrivateCopy): SQLite brings its WAL in, so it changes.
class RowRescue {
 public:
  /// Throws `damaged` when the source's list of tables cannot be read.
  RowRescue(const std::filesystem::path& destination, const std::filesystem::path& source);

  /// Copies the columns that both tables have. Where a range of row numbers cannot be copied at
  /// once, its halves are, down to single rows: a damaged page costs its own rows.
  RescuedTable copy(const std::string& table);

  /// The destination.
  Session& session() noexcept { return session_; }

 private:
  struct Table;

  void copy_range(Table& table, std::int64_t first, std::int64_t last);
  bool try_range(Table& table, std::int64_t first, std::int64_t last);
  std::int64_t edge(const std::string& table, const std::string& function, std::int64_t otherwise);
  std::int64_t most_rows();

  Connection connection_;
  Session session_;
  std::string why_;  ///< the last range failed
};

}  // namespace threadstore::db
