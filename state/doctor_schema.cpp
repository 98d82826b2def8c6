#include <algorithm>
#include <string>
#include <vector>

#include "state/doctor.h"
#include "state/schema/schema.h"

// Whether the store has the tables and columns that every statement of ours relies on. SQLite takes
// the list of tables for what it says: a damaged name in it is no damage to its structure.
namespace threadstore::state {
namespace {

/// "table.column" of each, sorted.
std::vector<std::string> columns_of(db::Session& session) {
  return session.all(R"sql(
    SELECT tables.name || '.' || columns.name AS name
    FROM sqlite_master AS tables JOIN pragma_table_info(tables.name) AS columns
    WHERE tables.type = 'table' ORDER BY 1)sql",
                     {}, [](const db::Row& row) { return row.text(0); });
}

std::vector<std::string> columns_of_a_new_store() {
  const auto fresh = db::Database::open(":memory:", {.mode = db::Mode::memory});
  db::migrate(*fresh, state_schema(), {});
  return fresh->read(columns_of);
}

}  // namespace

Check check_schema(StoreContext& context) {
  static const std::vector<std::string> wanted = columns_of_a_new_store();
  const std::vector<std::string> found = context.read(columns_of);
  std::string missing;
  for (const std::string& column : wanted) {
    if (std::binary_search(found.begin(), found.end(), column)) continue;
    missing += (missing.empty() ? "" : ", ") + column;
  }
  if (missing.empty()) return {.detail = "every table and column is there"};
  return {.status = CheckStatus::failed,
          .detail = "columns that are gone: " + missing,
          .advice = "copy the store away and get what is readable with 'threadstore salvage'"};
}

}  // namespace threadstore::state
