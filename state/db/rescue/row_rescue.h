#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "state/db/rescue/page_file.h"
#include "state/db/rescue/rescue_table.h"
#include "state/db/rescue/source_schema.h"

namespace threadstore::db {

struct RescuedTable {
  std::int64_t rows = 0;
  std::vector<LostRows> lost{};
};

/// Copies the rows of a damaged database, table by table, into an empty one with the same tables;
/// foreign keys are not asked meanwhile. The damaged file is read page by page, without SQLite: a
/// page that is lost costs what stands on it. Where it led to other pages, those are found by what
/// they look like. Nothing is synced; the destination is work in progress.
class RowRescue {
 public:
  /// `source` is a file of ours that no connection has open (see PrivateCopy), `destination` one
  /// that nobody else has. Throws `io`.
  RowRescue(const std::filesystem::path& destination, const std::filesystem::path& source);

  /// What came out of each of the tables, in their order, which is one where rows stand behind what
  /// they belong to. A table that the source does not have, since it is of an older version, has no
  /// rows. `progress` gets tables done and tables in all. Throws `io`;
  /// `invalid_argument` when the source has other tables and none of these; `damaged` when it does
  /// not even begin as a database and no row was found.
  std::vector<RescuedTable> copy(const std::vector<std::string>& tables,
                                 const std::function<void(std::int64_t, std::int64_t)>& progress);

  /// The destination.
  Session& session() noexcept { return session_; }

 private:
  void read(RescueTable& table);
  void walk(RescueTable& table, std::uint32_t root, bool in_place);
  void adopt_orphans(std::vector<RescueTable>& tables);
  void carry_sequences();

  const std::string source_name_;
  const PageFile pages_;
  const SourceSchema schema_;
  std::vector<bool> reached_;  ///< by page number: pages of a table that was read
  Connection connection_;
  Session session_;
};

}  // namespace threadstore::db
