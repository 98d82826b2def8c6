#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/state/schema/migrated_file.h"

namespace threadstore::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kOwners = "SELECT id, thread_id FROM messages ORDER BY id";

/// What another program does that deletes threads with plain SQL: the trigger keeps what forks
/// need.
class ForkKeeperTest : public testing::Test {
 protected:
  void thread(const std::string& id) {
    run("INSERT INTO threads(id, preview, ephemeral, model_provider, created_at, updated_at, "
        "status, cwd, cli_version, source) VALUES ('" +
        id + "', '', 0, '', 0, 0, 'idle', '', '', 'api')");
  }
  void fork(const std::string& id, const std::string& source, const std::string& message) {
    thread(id);
    run("INSERT INTO thread_forks VALUES ('" + id + "', '" + source + "', " + message + ", " +
        std::to_string(++clock_) + ")");
  }
  void message(const std::string& id, const std::string& thread, const std::string& parent) {
    run("INSERT INTO messages(id, thread_id, role, content, created_at, parent_entry_id) VALUES (" +
        id + ", '" + thread + "', 'user', '', 0, " + parent + ")");
  }
  void remove(const std::string& id) { run("DELETE FROM threads WHERE id = '" + id + "'"); }
  std::vector<std::string> owners() {
    EXPECT_THAT(rows(*database_, "PRAGMA foreign_key_check"), IsEmpty());
    return rows(*database_, kOwners);
  }
  void run(const std::string& sql) {
    database_->write([&](db::Session& session) { session.run(sql); });
  }

  const TempDir directory_;
  std::shared_ptr<db::Database> database_ = open_migrated(directory_ / "state.db");
  int clock_ = 0;
};

TEST_F(ForkKeeperTest, WithoutForksADeletedThreadTakesItsMessages) {
  thread("s");
  message("1", "s", "NULL");
  remove("s");
  EXPECT_THAT(owners(), IsEmpty());
}

TEST_F(ForkKeeperTest, PathOfAForkMovesToItAndTheRestGoes) {
  thread("s");
  message("1", "s", "NULL");
  message("2", "s", "1");
  message("3", "s", "2");
  message("4", "s", "1");
  fork("f", "s", "2");
  remove("s");
  EXPECT_THAT(owners(), ElementsAre("1|f", "2|f"));
}

TEST_F(ForkKeeperTest, SharedPathMovesToTheOldestForkThatNeedsIt) {
  thread("s");
  message("1", "s", "NULL");
  message("2", "s", "1");
  message("3", "s", "2");
  fork("older", "s", "2");
  fork("younger", "s", "3");
  remove("s");
  EXPECT_THAT(owners(), ElementsAre("1|older", "2|older", "3|younger"));
  remove("older");
  EXPECT_THAT(owners(), ElementsAre("1|younger", "2|younger", "3|younger"));
}

TEST_F(ForkKeeperTest, ForkOfAForkKeepsItsHistoryInWhateverOrderTheOthersGo) {
  for (const bool source_first : {true, false}) {
    thread("s");
    message("1", "s", "NULL");
    message("2", "s", "1");
    fork("f", "s", "2");
    message("3", "f", "2");
    fork("g", "f", "3");
    message("4", "g", "3");
    remove(source_first ? "s" : "f");
    remove(source_first ? "f" : "s");
    EXPECT_THAT(owners(), ElementsAre("1|g", "2|g", "3|g", "4|g")) << source_first;
    remove("g");
    EXPECT_THAT(owners(), IsEmpty());
  }
}

TEST_F(ForkKeeperTest, ForkBesideItsForkPointKeepsThePathOfItsOwnMessages) {
  thread("s");
  message("1", "s", "NULL");
  message("2", "s", "1");
  fork("f", "s", "2");
  message("3", "f", "1");  // a branch of the fork above its fork point
  remove("s");
  EXPECT_THAT(owners(), ElementsAre("1|f", "2|f", "3|f"));
}

TEST_F(ForkKeeperTest, AnEmptyForkKeepsNothing) {
  thread("s");
  message("1", "s", "NULL");
  fork("f", "s", "NULL");
  remove("s");
  EXPECT_THAT(owners(), IsEmpty());
}

TEST_F(ForkKeeperTest, DeepForkIsKeptWhole) {
  thread("s");
  message("1", "s", "NULL");
  run("WITH RECURSIVE n(i) AS (VALUES (2) UNION ALL SELECT i + 1 FROM n WHERE i < 20000) "
      "INSERT INTO messages(id, thread_id, role, content, created_at, parent_entry_id) "
      "SELECT i, 's', 'user', '', 0, i - 1 FROM n");
  fork("f", "s", "15000");
  remove("s");
  EXPECT_THAT(rows(*database_, "SELECT thread_id, count(*), max(id) FROM messages GROUP BY 1"),
              ElementsAre("f|15000|15000"));
}

}  // namespace
}  // namespace threadstore::test
