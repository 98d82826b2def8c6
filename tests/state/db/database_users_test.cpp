#include "state/db/database_users.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/state/db/child.h"
#include "tests/state/db/sqlite_connection.h"
#include "tests/support/temp_dir.h"

namespace threadstore::db {
namespace {

using test::Child;

class DatabaseUsersTest : public testing::Test {
 protected:
  // A process that runs these statements and keeps its connection open.
  Child with_open(const std::string& statements) const {
    Child child([&] {
      const ConnectionHandle connection = test::open_sqlite(file_);
      test::sql(connection.get(), statements);
      *ready_.operator->() = true;
      for (;;) ::pause();
      return 0;
    });
    EXPECT_TRUE(test::eventually([&] { return ready_->load(); }));
    return child;
  }
  static std::string name_of(const Child& child) {
    return "process " + std::to_string(child.pid()) + " (db_gate_tests)";
  }

  test::TempDir directory_;
  std::filesystem::path file_ = directory_ / "state.db";
  test::Shared<std::atomic<bool>> ready_;
};

TEST_F(DatabaseUsersTest, TellsWhoWrites) {
  const Child child = with_open("CREATE TABLE t(a); BEGIN IMMEDIATE");
  EXPECT_EQ(who_writes(file_), name_of(child));
}

TEST_F(DatabaseUsersTest, TellsWhoReads) {
  const Child child = with_open("CREATE TABLE t(a); BEGIN; SELECT * FROM t");
  EXPECT_EQ(who_reads(file_), name_of(child));
  EXPECT_EQ(who_writes(file_), "");
}

TEST_F(DatabaseUsersTest, TellsNobodyWhereNobodyIs) {
  EXPECT_EQ(who_reads(file_), "");
  const Child child = with_open("CREATE TABLE t(a)");
  EXPECT_EQ(who_reads(file_), "");
}

}  // namespace
}  // namespace threadstore::db
