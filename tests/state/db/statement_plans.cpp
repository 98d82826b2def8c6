// Linked into a test program: listens to every statement that any connection of the process runs,
// and when the test is over asks SQLite how it would run them in a store of today's schema. A
// statement that reads all messages, threads, runs or events, or sorts them to answer with a page,
// fails the program, unless the table below says why that is right.
#include <gtest/gtest.h>

#include <array>
#include <regex>
#include <string>
#include <string_view>

#include "tests/state/db/sqlite_connection.h"
#include "tests/state/db/statement_log.h"
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
  for (const std::string& step : plan_of(connection, sql)) {
    // "no plan": about tables of another database, or of an older schema.
    const std::string fault = fault_of(step, sql);
    if (fault.empty() || is_excused(sql)) continue;
    ADD_FAILURE() << "a statement " << fault << " (" << step
                  << "): " << std::regex_replace(sql, std::regex("\\s+"), " ");
  }
}

class PlanEnvironment : public testing::Environment {
 public:
  void TearDown() override {
    const TempDir dir;
    StateStore::open(dir / "state.db");
    const auto connection = open_sqlite(dir / "state.db");
    for (const std::string& sql : StatementLog::of_the_store()) explain(connection.get(), sql);
  }
};

const auto* const environment = [] {
  StatementLog::watch();
  return testing::AddGlobalTestEnvironment(new PlanEnvironment);
}();

}  // namespace
}  // namespace threadstore::test
