// Linked into a test program: listens to every statement that any connection of the process runs,
// and when the test is over asks SQLite how it would run them in a store of today's schema. A
// statement that reads all messages, threads, runs or events, or sorts them to answer with a page,
// fails the program, unless the table below says why that is right.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <array>
#include <memory>
#include <mutex>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "tests/support/temp_dir.h"
#include "threadstore/state_store.h"

namespace threadstore::test {
namespace {

struct Excuse {
  std::string_view statement;  ///< what the statement contains
  std::string_view reason;
};

constexpr std::array kExcuses{
    Excuse{"SELECT count(*) FROM", "counting is its task"},
    Excuse{"WITH RECURSIVE up(start", "the doctor looks for cycles"},
    Excuse{"parent.id = messages.parent_entry_id", "the doctor looks for lost parents"},
    Excuse{"messages.id IS NULL", "the doctor looks for lost leaves"},
    Excuse{"lag(id) OVER", "a migration, once in a store's life"},
    Excuse{"WHERE current_leaf_id IS NULL", "the same migration"},
    Excuse{"substr(id, -length(?1)) = ?1", "ids that end so have no order; reads ids alone"},
    Excuse{"FROM runs WHERE thread_id = ?", "sorts the few runs of one thread"},
    Excuse{"leaf_id = ? AND input_hash = ?", "sorts the runs of one leaf with one input"},
};

class StatementLog {
 public:
  static StatementLog& instance() {
    static auto& log = *new StatementLog;
    return log;
  }

  static int watch(sqlite3* connection, char**, const sqlite3_api_routines*) {
    return sqlite3_trace_v2(
        connection, SQLITE_TRACE_STMT,
        [](unsigned, void* traced, void* statement, void*) {
          if (is_ours(static_cast<sqlite3*>(traced))) {
            instance().add(sqlite3_sql(static_cast<sqlite3_stmt*>(statement)));
          }
          return 0;
        },
        connection);
  }

  std::set<std::string> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(statements_, {});
  }

 private:
  /// The store's connections are defensive; those by which tests look or do damage are not.
  static bool is_ours(sqlite3* connection) {
    int defensive = 0;
    sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, -1, &defensive);
    return defensive != 0;
  }

  void add(const char* sql) {
    const std::lock_guard lock(mutex_);
    if (sql != nullptr) statements_.insert(sql);
  }

  std::mutex mutex_;
  std::set<std::string> statements_;
};

/// What the plan calls a table: its alias, if the statement gives one.
bool scans(const std::string& step, const std::string& sql, const std::string& table) {
  static const std::regex scan("SCAN (\\w+).*");
  std::smatch found;
  if (!std::regex_match(step, found, scan)) return false;
  return found[1] == table ||
         std::regex_search(sql, std::regex("\\b" + table + "\\s+AS\\s+" + found[1].str() + "\\b"));
}

/// What is wrong with one line of a plan; empty when nothing is. A page of a list may sort ties.
std::string fault_of(const std::string& step, const std::string& sql) {
  for (const char* table : {"messages", "threads", "run_events", "runs"}) {
    if (scans(step, sql, table)) return std::string("reads all ") + table;
  }
  const bool sorts = step.find("TEMP B-TREE FOR ORDER BY") != std::string::npos;
  return sorts && sql.find("LIMIT") != std::string::npos ? "sorts for a page" : "";
}

bool is_excused(const std::string& sql) {
  for (const Excuse& excuse : kExcuses) {
    if (sql.find(excuse.statement) != std::string::npos) return true;
  }
  return false;
}

void explain(sqlite3* connection, const std::string& sql) {
  sqlite3_stmt* prepared = nullptr;
  const int code =
      sqlite3_prepare_v2(connection, ("EXPLAIN QUERY PLAN " + sql).c_str(), -1, &prepared, nullptr);
  const std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)> plan(prepared,
                                                                        &sqlite3_finalize);
  if (code != SQLITE_OK) return;  // about tables of another database, or of an older schema
  while (sqlite3_step(plan.get()) == SQLITE_ROW) {
    const std::string step = reinterpret_cast<const char*>(sqlite3_column_text(plan.get(), 3));
    const std::string fault = fault_of(step, sql);
    if (fault.empty() || is_excused(sql)) continue;
    ADD_FAILURE() << "a statement " << fault << " (" << step
                  << "): " << std::regex_replace(sql, std::regex("\\s+"), " ");
  }
}

class PlanEnvironment : public testing::Environment {
 public:
  void TearDown() override {
    const std::set<std::string> statements = StatementLog::instance().take();
    const TempDir dir;
    const auto file = dir / "state.db";
    StateStore::open(file);
    sqlite3* opened = nullptr;
    ASSERT_EQ(sqlite3_open_v2(file.c_str(), &opened, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
    const std::unique_ptr<sqlite3, decltype(&sqlite3_close)> connection(opened, &sqlite3_close);
    for (const std::string& sql : statements) explain(connection.get(), sql);
  }
};

const auto* const environment = [] {
  sqlite3_auto_extension(reinterpret_cast<void (*)()>(&StatementLog::watch));
  return testing::AddGlobalTestEnvironment(new PlanEnvironment);
}();

}  // namespace
}  // namespace threadstore::test
