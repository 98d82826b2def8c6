// Each page of a store is lost, one at a time: a leaf, an inner page, the root of a table, a part
// of the list of tables, the first page, an index, a free page, a further page of a long message.
// The rows of all other pages come out.
//
//   THREADSTORE_EVERY_PAGE=1    really each; by default some, among them all inner pages
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "tests/state/maintenance/full_store.h"
#include "tests/state/maintenance/store_files.h"
#include "tests/state/threads/other_program.h"
#include "tests/support/temp_dir.h"

namespace threadstore::test {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// What SQLite itself says of a page of the whole store (its table `dbstat`).
struct PageUse {
  std::string table{};              ///< or index
  std::string kind{};               ///< leaf, internal, overflow
  std::vector<std::string> rows{};  ///< the row numbers that need the page, of a table
};

class SalvagePagesTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    home_ = new TempDir;
    fs::create_directory(*home_ / "damaged");
    make_full_store(*home_ / "whole.db");
    bytes_ = new std::string(read_file(*home_ / "whole.db"));
  }
  static void TearDownTestSuite() {
    delete bytes_;
    delete home_;
  }

  fs::path whole() const { return *home_ / "whole.db"; }

  std::vector<std::string> tables() const {
    return lines_of(OtherProgram(whole()).ask(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name "
        "NOT IN ('leases', 'index_outbox', 'threadstore_schema') ORDER BY name"));
  }

  std::map<int, PageUse> page_uses() const;
  std::map<std::string, std::string> rows_of(const fs::path& database) const;
  void lose_rows(const fs::path& database, const PageUse& page) const;
  void expect_all_but(int number, const PageUse& page) const;

  static inline TempDir* home_ = nullptr;
  static inline std::string* bytes_ = nullptr;
};

/// By page number. The rows of a leaf follow from how many each leaf has, in the order of the tree;
/// an overflow page is named by the leaf's path and the cell on it: "/001/00c+000002".
std::map<int, PageUse> SalvagePagesTest::page_uses() const {
  OtherProgram program(whole());
  std::set<std::string> names;
  for (const std::string& name : tables()) names.insert(name);
  std::map<int, PageUse> uses;
  std::map<std::string, std::vector<std::string>> left;    // rows of a table that no leaf has yet
  std::map<std::string, std::vector<std::string>> leaves;  // rows by table and path
  for (const std::string& line : lines_of(program.ask(
           "SELECT pageno, name, pagetype, ncell, path FROM dbstat ORDER BY name, path"))) {
    std::istringstream in(line);
    std::string word, name, kind, cells, path;
    std::getline(in, word, '|'), std::getline(in, name, '|'), std::getline(in, kind, '|');
    std::getline(in, cells, '|'), std::getline(in, path);
    PageUse& use = uses[std::stoi(word)];
    use = {.table = name, .kind = kind};
    if (names.count(name) == 0) continue;
    if (left.count(name) == 0) {
      left[name] = lines_of(program.ask("SELECT rowid FROM " + name + " ORDER BY rowid DESC"));
    }
    if (kind == "leaf") {
      for (int i = std::stoi(cells); i > 0; --i) {
        use.rows.push_back(left[name].back());
        left[name].pop_back();
      }
      leaves[name + path] = use.rows;
    } else if (kind == "overflow") {
      const auto cell = path.rfind('/') + 1;
      const auto& rows = leaves.at(name + path.substr(0, cell == 1 ? 1 : cell));
      use.rows = {rows.at(std::stoul(path.substr(cell), nullptr, 16))};
    }
  }
  for (const auto& [name, rows] : left) EXPECT_THAT(rows, ::testing::IsEmpty()) << name;
  return uses;
}

/// All rows of all tables by their content, but for the links that salvage has to mend.
std::map<std::string, std::string> SalvagePagesTest::rows_of(const fs::path& database) const {
  OtherProgram program(database);
  std::map<std::string, std::string> rows;
  for (const std::string& table : tables()) {
    std::string columns;
    for (const std::string& column :
         lines_of(program.ask("SELECT name FROM pragma_table_info('" + table +
                              "') WHERE name NOT IN "
                              "('current_leaf_id', 'parent_entry_id', 'branch_run_id')"))) {
      columns += (columns.empty() ? "" : " || '~' || ") + ("quote(" + column + ")");
    }
    for (const std::string& row : lines_of(program.ask(
             "SELECT " + columns + " FROM " + table +
             (table == "threads" ? " WHERE title IS NULL OR title NOT LIKE 'salvaged %'" : "")))) {
      rows[table + "|" + row] = "";
    }
  }
  return rows;
}

/// In a copy of the whole store: what the page held, and what cannot be without it. Threads get a
/// record of their own again, so nothing goes with those; where a fork began, its messages say.
void SalvagePagesTest::lose_rows(const fs::path& database, const PageUse& page) const {
  if (page.table == "thread_forks") return;
  OtherProgram program(database);
  program.run(page.table == "threads" ? "PRAGMA foreign_keys=OFF" : "PRAGMA foreign_keys=ON");
  for (const std::string& trigger :
       lines_of(program.ask("SELECT name FROM sqlite_master WHERE type = 'trigger'"))) {
    program.run("DROP TRIGGER " + trigger);
  }
  for (const std::string& row : page.rows) {
    program.run("DELETE FROM " + page.table + " WHERE rowid = " + row);
  }
}

void SalvagePagesTest::expect_all_but(int number, const PageUse& page) const {
  SCOPED_TRACE("page " + std::to_string(number) + ", " + page.kind + " of " + page.table);
  const fs::path damaged = *home_ / "damaged" / "state.db";
  const fs::path rescued = *home_ / "rescued.db";
  const fs::path expected = *home_ / "expected.db";
  std::string bytes = *bytes_;
  bytes.replace(static_cast<std::size_t>(number - 1) * 4096, 4096, std::string(4096, '\0'));
  write_file(damaged, bytes);
  write_file(expected, *bytes_);
  lose_rows(expected, page);

  const Salvage done = salvage(damaged, rescued);
  EXPECT_TRUE(read_file(damaged) == bytes);
  const auto wanted = rows_of(expected);
  const auto found = rows_of(rescued);
  std::vector<std::string> missing;
  std::vector<std::string> more;
  for (const auto& [row, nothing] : wanted) {
    if (found.count(row) == 0) missing.push_back(row.substr(0, 200));
  }
  for (const auto& [row, nothing] : found) {
    if (wanted.count(row) == 0) more.push_back(row.substr(0, 200));
  }
  EXPECT_THAT(missing, ::testing::IsEmpty());
  EXPECT_THAT(more, ::testing::IsEmpty());
  EXPECT_TRUE(page.rows.empty() || !done.complete());
  {
    const StateStore store = StateStore::open(rescued);
    for (const Check& check : store.check()) {
      // The index belongs to the place of the store, and lost events of a run are its own.
      if (check.name == "index" || (check.name == "runs" && page.table.starts_with("run")))
        continue;
      EXPECT_NE(check.status, CheckStatus::failed) << check.name << ": " << check.detail;
    }
  }
  for (const char* part : {"", "-wal", "-shm", ".gate", ".leases", ".removal"}) {
    fs::remove(rescued.string() + part);
  }
}

TEST_F(SalvagePagesTest, ALostPageCostsItsOwnRowsAndNoOthers) {
  const bool each = std::getenv("THREADSTORE_EVERY_PAGE") != nullptr;
  const auto uses = page_uses();
  std::set<std::string> kinds;
  const int count = static_cast<int>(bytes_->size() / 4096);
  for (int number = 1; number <= count; ++number) {
    const auto known = uses.find(number);
    const PageUse page =
        known == uses.end() ? PageUse{.table = "the free pages", .kind = "free"} : known->second;
    const int step = page.table == "sqlite_schema" ? 3 : 31;
    const bool first_of_kind = kinds.insert(page.kind).second;
    if (each || first_of_kind || page.kind == "internal" || number % step == 0) {
      expect_all_but(number, page);
    }
    if (HasFailure()) return;
  }
  EXPECT_THAT(kinds, ::testing::ElementsAre("free", "internal", "leaf", "overflow"));
}

/// Nobody forgets a new table.
TEST_F(SalvagePagesTest, EveryTableIsSalvagedAndHasRowsHere) {
  std::set<std::string> salvaged;
  for (const SalvagedTable& table : salvage(whole(), *home_ / "all.db").tables) {
    EXPECT_GT(table.rows, 0) << table.name;
    salvaged.insert(table.name);
  }
  for (const std::string& table : tables()) EXPECT_EQ(salvaged.count(table), 1U) << table;
  EXPECT_EQ(salvaged.size(), tables().size());
}

}  // namespace
}  // namespace threadstore::test
