#include "tests/state/runs/run_faults.h"

#include <atomic>

namespace threadstore::test {
namespace {

constexpr int kUnlimited = 1'000'000;

std::atomic<bool> commits_fail = false;

int watch_commits(sqlite3* connection, char**, const sqlite3_api_routines*) {
  sqlite3_commit_hook(
      connection, [](void*) { return commits_fail ? 1 : 0; }, nullptr);
  return SQLITE_OK;
}

int keep_row(void* out, int count, char** columns, char**) {
  auto& text = *static_cast<std::string*>(out);
  for (int i = 0; i < count; ++i) {
    text += columns[i] != nullptr ? columns[i] : "null";
    text += '|';
  }
  text += '\n';
  return 0;
}

}  // namespace

CommitFaults::CommitFaults() {
  sqlite3_auto_extension(reinterpret_cast<void (*)()>(&watch_commits));
}

void CommitFaults::refuse_commits(bool refuse) { commits_fail = refuse; }

RunFaultsFixture::RunFaultsFixture() {
  std::string names;
  sqlite3_exec(connection_.get(),
               "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
               " AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name",
               keep_row, &names, nullptr);
  for (std::size_t start = 0; start < names.size();) {
    const std::size_t end = names.find('|', start);
    tables_.push_back(names.substr(start, end - start));
    start = end + 2;
  }
  sql(connection_.get(), "CREATE TABLE fault (left INTEGER); INSERT INTO fault VALUES (1000000)");
  for (const std::string& table : tables_) {
    for (const std::string verb : {"INSERT", "UPDATE", "DELETE"}) {
      sql(connection_.get(), "CREATE TRIGGER fault_" + table + "_" + verb + " BEFORE " + verb +
                                 " ON " + table +
                                 " BEGIN UPDATE fault SET left = left - 1;"
                                 " SELECT RAISE(ABORT, 'injected')"
                                 " WHERE (SELECT left FROM fault) < 0; END");
    }
  }
}

std::string RunFaultsFixture::contents() const {
  std::string all;
  for (const std::string& table : tables_) {
    all += table + '\n';
    sqlite3_exec(connection_.get(), ("SELECT * FROM " + table).c_str(), keep_row, &all, nullptr);
  }
  return all;
}

std::optional<ErrorCode> RunFaultsFixture::with_rows(int allowed,
                                                     const std::function<void()>& operation) {
  sql(connection_.get(), "UPDATE fault SET left = " + std::to_string(allowed));
  const auto error = error_of(operation);
  sql(connection_.get(), "UPDATE fault SET left = " + std::to_string(kUnlimited));
  return error;
}

void RunFaultsFixture::survive(const std::string& method, int rows,
                               const std::function<void()>& operation) {
  SCOPED_TRACE(method);
  const std::string before = contents();
  refuse_commits(true);
  EXPECT_NE(error_of(operation), std::nullopt) << "without a commit";
  refuse_commits(false);
  EXPECT_EQ(contents(), before) << "after a refused commit";
  for (int allowed = 0; allowed < 200; ++allowed) {
    if (!with_rows(allowed, operation)) {
      EXPECT_GE(allowed, rows) << "rows that it wrote";
      return;
    }
    EXPECT_EQ(contents(), before) << "after " << allowed << " rows";
  }
  ADD_FAILURE() << "never had its way";
}

}  // namespace threadstore::test
