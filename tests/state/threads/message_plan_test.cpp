#include <gmock/gmock.h>

#include <set>

#include "tests/state/db/sqlite_connection.h"
#include "tests/state/db/statement_log.h"
#include "tests/state/threads/message_fixture.h"

namespace threadstore {
namespace {

const bool watching = [] {
  test::StatementLog::watch();
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
  test::StatementLog::take();
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
  const auto run = test::StatementLog::take();
  const std::set<std::string> statements(run.begin(), run.end());
  const auto connection = test::open_sqlite(dir_ / "state.db");
  int examined = 0;
  for (const std::string& sql : statements) {
    if (!about_messages(sql)) continue;
    ++examined;
    for (const std::string& step : test::plan_of(connection.get(), sql)) {
      EXPECT_THAT(step, ::testing::Not(::testing::HasSubstr("TEMP B-TREE"))) << sql;
      EXPECT_THAT(step, ::testing::Not(::testing::StartsWith("SCAN"))) << sql;
      EXPECT_THAT(step, ::testing::Not(::testing::StartsWith("no plan"))) << sql;
    }
  }
  EXPECT_GE(examined, 20);
}

}  // namespace
}  // namespace threadstore
