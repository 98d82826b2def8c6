#include <gmock/gmock.h>
#include <sqlite3.h>

#include <mutex>
#include <set>

#include "tests/state/db/sqlite_connection.h"
#include "tests/state/threads/message_fixture.h"

namespace threadstore {
namespace {

/// Every statement that any connection of this process runs.
class StatementLog {
 public:
  static StatementLog& instance() {
    static StatementLog log;
    return log;
  }
  static int watch(sqlite3* connection, char**, const sqlite3_api_routines*) {
    return sqlite3_trace_v2(
        connection, SQLITE_TRACE_STMT,
        [](unsigned, void*, void* statement, void*) {
          instance().add(sqlite3_sql(static_cast<sqlite3_stmt*>(statement)));
          return 0;
        },
        nullptr);
  }
  std::set<std::string> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(statements_, {});
  }

 private:
  void add(const char* sql) {
    const std::lock_guard lock(mutex_);
    if (sql != nullptr) statements_.insert(sql);
  }
  std::mutex mutex_;
  std::set<std::string> statements_;
};

const bool watching = [] {
  sqlite3_auto_extension(reinterpret_cast<void (*)()>(&StatementLog::watch));
  return true;
}();

class MessagePlanTest : public test::MessageStore {};

bool about_messages(const std::string& sql) {
  return sql.find("messages") != std::string::npos && sql.find("CREATE") == std::string::npos &&
         sql.find("ALTER") == std::string::npos;
}

TEST_F(MessagePlanTest, NoStatementScansOrSortsMessages) {
  ASSERT_TRUE(watching);
  const ThreadId thread = make_thread();
  StatementLog::instance().take();
  const auto chain = append_chain(thread, 3);
  const AppendOptions options{
      .expected_leaf = ExpectedLeaf{chain[0]}, .on_conflict = OnConflict::branch, .key = "k"};
  messages_.append(thread, {.role = "u", .content = "x"}, options);
  messages_.append(thread, {.role = "u", .content = "x"}, options);
  messages_.leaves(thread);
  const ThreadId copy = store_.threads().fork({.source = thread, .at = chain[1]}).thread.id;
  for (const ThreadId& id : {thread, copy}) {
    messages_.branch_at(id, chain[0], {.role = "u", .content = "y"});
    messages_.list(id);
    messages_.list(id, {.before = chain[1]});
    messages_.leaves(id);
    messages_.children(id, chain[0]);
    messages_.tree(id);
    messages_.count(id);
    messages_.depth(id, chain[1]);
    messages_.since(id, MessageId{0});
  }
  messages_.since(std::nullopt, MessageId{0});
  messages_.newest_id();
  messages_.clear(thread);
  store_.threads().remove(thread);
  const auto statements = StatementLog::instance().take();
  const auto connection = test::open_sqlite(dir_ / "state.db");
  int examined = 0;
  for (const std::string& sql : statements) {
    if (!about_messages(sql)) continue;
    ++examined;
    sqlite3_stmt* plan = nullptr;
    ASSERT_EQ(sqlite3_prepare_v2(connection.get(), ("EXPLAIN QUERY PLAN " + sql).c_str(), -1, &plan,
                                 nullptr),
              SQLITE_OK)
        << sql;
    while (sqlite3_step(plan) == SQLITE_ROW) {
      const std::string step = reinterpret_cast<const char*>(sqlite3_column_text(plan, 3));
      EXPECT_THAT(step, ::testing::Not(::testing::HasSubstr("TEMP B-TREE"))) << sql;
      EXPECT_THAT(step, ::testing::Not(::testing::StartsWith("SCAN"))) << sql;
    }
    sqlite3_finalize(plan);
  }
  EXPECT_GE(examined, 20);
}

}  // namespace
}  // namespace threadstore
