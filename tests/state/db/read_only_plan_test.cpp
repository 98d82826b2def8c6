#include "state/db/read_only_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <set>

#include "tests/state/db/child.h"
#include "tests/state/db/sqlite_connection.h"
#include "tests/support/temp_dir.h"
#include "threadstore/error.h"

namespace threadstore::db {
namespace {

namespace fs = std::filesystem;
using test::ask;

// What a person who opens the planned location reads.
std::string read_through(const ReadOnlyPlan& plan) {
  sqlite3* connection = nullptr;
  sqlite3_open_v2(plan.location.c_str(), &connection, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI,
                  nullptr);
  const ConnectionHandle handle(connection, sqlite3_close_v2);
  return ask(connection, "SELECT content FROM t");
}

class ReadOnlyPlanTest : public testing::Test {
 protected:
  ReadOnlyPlanTest() { ::chmod(directory_.path().c_str(), 0755); }
  ~ReadOnlyPlanTest() override {
    if (dropped_root_) [[maybe_unused]]
      const int back = ::seteuid(0);
    ::chmod(file_.parent_path().c_str(), 0755);
  }

  // A process writes "old", checkpoints, writes "new" into the WAL, and dies or closes properly.
  void make_database(bool dies) {
    fs::create_directory(file_.parent_path());
    EXPECT_EQ(test::Child([&] {
                const ConnectionHandle connection = test::open_sqlite(file_);
                sqlite3_db_config(connection.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr);
                test::sql(connection.get(),
                          "CREATE TABLE t(content); INSERT INTO t VALUES "
                          "('old'); PRAGMA wal_checkpoint; UPDATE t SET "
                          "content = 'new'");
                if (dies) ::_exit(0);
                return 0;
              }).wait(),
              0);
  }

  // From here on nobody may write to the directory, root neither (it becomes another user).
  void make_read_only() {
    for (const auto& entry : fs::directory_iterator(file_.parent_path())) {
      ::chmod(entry.path().c_str(), 0444);
    }
    ::chmod(file_.parent_path().c_str(), 0555);
    if (::geteuid() == 0) dropped_root_ = ::seteuid(65534) == 0;
  }

  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(file_.parent_path())) {
      names.insert(entry.path().filename().string());
    }
    return names;
  }

  test::TempDir directory_;
  const fs::path file_ = directory_ / "100% sure? #1" / "state.db";
  bool dropped_root_ = false;
};

TEST_F(ReadOnlyPlanTest, AWritableDirectoryNeedsNothing) {
  make_database(true);
  const ReadOnlyPlan plan = plan_read_only(file_);
  EXPECT_EQ(plan.way, ReadOnlyWay::ordinary);
  EXPECT_EQ(read_through(plan), "new");
}

TEST_F(ReadOnlyPlanTest, ACleanlyClosedDatabaseIsImmutable) {
  make_database(false);
  ASSERT_EQ(files(), (std::set<std::string>{"state.db"}));
  make_read_only();
  const ReadOnlyPlan plan = plan_read_only(file_);
  EXPECT_EQ(plan.way, ReadOnlyWay::immutable);
  EXPECT_EQ(read_through(plan), "new");
}

TEST_F(ReadOnlyPlanTest, AnEmptyWalIsNone) {
  make_database(false);
  test::write_file(file_.string() + "-wal", "");
  make_read_only();
  const ReadOnlyPlan plan = plan_read_only(file_);
  EXPECT_EQ(plan.way, ReadOnlyWay::immutable);
  EXPECT_EQ(read_through(plan), "new");
}

TEST_F(ReadOnlyPlanTest, AWalWithFramesIsReadFromAPrivateCopy) {
  make_database(true);
  fs::remove(file_.string() + "-shm");
  make_read_only();
  const auto before = files();
  fs::path copy;
  {
    const ReadOnlyPlan plan = plan_read_only(file_);
    EXPECT_EQ(plan.way, ReadOnlyWay::private_copy);
    copy = plan.location;
    EXPECT_EQ(read_through(plan), "new");
    EXPECT_EQ(fs::status(copy.parent_path()).permissions(), fs::perms{0700});
    EXPECT_EQ(fs::status(copy).permissions(), fs::perms{0600});
    EXPECT_EQ(files(), before);
  }
  EXPECT_FALSE(fs::exists(copy.parent_path()));
}

TEST_F(ReadOnlyPlanTest, WithItsSharedMemorySQLiteReadsTheWalInPlace) {
  make_database(true);
  make_read_only();
  const auto before = files();
  ASSERT_EQ(before, (std::set<std::string>{"state.db", "state.db-shm", "state.db-wal"}));
  const ReadOnlyPlan plan = plan_read_only(file_);
  EXPECT_EQ(plan.way, ReadOnlyWay::ordinary);
  EXPECT_EQ(read_through(plan), "new");
  EXPECT_EQ(files(), before);
}

TEST_F(ReadOnlyPlanTest, WhatIsMissingOrNoDatabaseIsLeftToTheOpen) {
  fs::create_directory(file_.parent_path());
  test::write_file(file_, "this is no database, whatever its name says");
  make_read_only();
  EXPECT_EQ(plan_read_only(file_).way, ReadOnlyWay::ordinary);
  EXPECT_EQ(plan_read_only(file_.parent_path() / "none.db").way, ReadOnlyWay::ordinary);
}

TEST_F(ReadOnlyPlanTest, ACopyThatCannotBeMadeIsAnErrorThatSaysSo) {
  EXPECT_THAT([&] { PrivateCopy(directory_ / "none.db"); },
              testing::ThrowsMessage<Error>(testing::HasSubstr((directory_ / "none.db").string())));
}

}  // namespace
}  // namespace threadstore::db
