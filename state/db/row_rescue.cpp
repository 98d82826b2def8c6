#include "state/db/row_rescue.h"

#include <sqlite3.h>

#include <algorithm>

#include "threadstore/error.h"

namespace threadstore::db {

struct RowRescue::Table {
  std::string select;  ///< up to the condition
  std::string insert;
  RescuedTable result;
  int failures = 0;
};

namespace {

/// Past so many failures a range is not divided any more: a damaged key can make a page answer for
/// more row numbers than anybody can try.
constexpr int kMostFailures = 1 << 17;

}  // namespace

RowRescue::RowRescue(const std::filesystem::path& destination, const std::filesystem::path& source)
    : connection_({.file = destination.string(), .location = destination.string()}, Role::writer),
      session_(connection_) {
  session_.script("PRAGMA foreign_keys=OFF; PRAGMA synchronous=OFF");
  session_.run("ATTACH ? AS source", {source.string()});
  // Tells whether the list of tables can be read.
  session_.value<std::int64_t>("SELECT count(*) FROM source.sqlite_master");
}

RescuedTable RowRescue::copy(const std::string& table) {
  std::string columns;
  session_.each(R"sql(
    SELECT name FROM pragma_table_info(?1, 'main')
    WHERE name IN (SELECT name FROM pragma_table_info(?1, 'source')))sql",
                {table}, [&](const Row& row) {
                  columns += (columns.empty() ? "" : ", ") + ('"' + row.text(0) + '"');
                });
  if (columns.empty()) return {};  // a store of an older version, without this table
  Table work;
  work.select = "SELECT " + columns + " FROM source." + table + " NOT INDEXED WHERE ";
  work.insert = "INSERT INTO main." + table + " (" + columns + ") " + work.select;
  const std::int64_t first = edge(table, "min", 1);
  copy_range(work, first, std::max(first, edge(table, "max", most_rows())));
  return std::move(work.result);
}

void RowRescue::copy_range(Table& table, std::int64_t first, std::int64_t last) {
  if (try_range(table, first, last)) return;
  if (first == last || ++table.failures > kMostFailures) {
    auto& lost = table.result.lost;
    if (!lost.empty() && lost.back().last + 1 == first && lost.back().why == why_) {
      lost.back().last = last;
    } else {
      lost.push_back({.first = first, .last = last, .why = why_});
    }
    return;
  }
  const std::int64_t middle = first + (last - first) / 2;
  copy_range(table, first, middle);
  copy_range(table, middle + 1, last);
}

// Read before anything is written: an INSERT then fails for what a row says only, and undoes
// itself.
bool RowRescue::try_range(Table& table, std::int64_t first, std::int64_t last) {
  // A single row is looked up: a range would also look at what follows, perhaps a damaged page.
  const char* const where = first == last ? "rowid = ?1 AND ?2" : "rowid BETWEEN ?1 AND ?2";
  const std::int64_t second = first == last ? 1 : last;
  try {
    session_.each(table.select + where, {first, second}, [](const Row&) {});
    table.result.rows += session_.run(table.insert + where, {first, second});
    return true;
  } catch (const Error& failure) {
    why_ = sqlite3_errmsg(connection_.handle());
    if (failure.io_reason() == IoReason::disk_full) throw;  // that is no damage
    return false;
  }
}

std::int64_t RowRescue::edge(const std::string& table, const std::string& function,
                             std::int64_t otherwise) {
  try {
    return session_
        .value<std::int64_t>("SELECT " + function + "(rowid) FROM source." + table + " NOT INDEXED")
        .value_or(0);
  } catch (const Error&) {
    return otherwise;  // the page at that end is damaged
  }
}

/// No table of a file so large has a higher row number, unless most of its rows were deleted.
std::int64_t RowRescue::most_rows() {
  const auto pages = session_.value<std::int64_t>("PRAGMA source.page_count").value_or(0);
  return std::clamp<std::int64_t>(pages * 100, 4096, std::int64_t{1} << 20);
}

}  // namespace threadstore::db
