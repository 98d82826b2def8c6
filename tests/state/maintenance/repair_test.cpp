#include <sys/stat.h>

#include "tests/state/maintenance/store_files.h"
#include "tests/state/threads/records_test.h"

namespace threadstore::test {
namespace {

class RepairTest : public RecordsTest {
 protected:
  Check checked(const std::string& name) {
    for (const Check& check : store.check()) {
      if (check.name == name) return check;
    }
    return {};
  }

  MessageId append(const ThreadId& to) {
    return store.messages().append(to, {.role = "user", .content = "c"}).id;
  }

  ThreadId thread = make_thread("t1");
};

TEST_F(RepairTest, AHealthyStoreNeedsNothing) {
  append(thread);
  const auto before = names_in(dir.path());
  EXPECT_EQ(store.repair(), std::vector<Repair>{});
  EXPECT_EQ(names_in(dir.path()), before);
}

TEST_F(RepairTest, ALeafThatPointsNowhereBecomesTheNewestEndAndABackupIsMadeFirst) {
  append(thread);
  const MessageId end = append(thread);
  const ThreadId empty = make_thread("t2");
  const ThreadId whole = make_thread("t3");
  append(whole);
  other.run("UPDATE threads SET current_leaf_id = 99 WHERE id IN ('t1', 't2')");
  EXPECT_EQ(checked("leaves").status, CheckStatus::failed);

  const fs::path kept = dir / "state.db.before-repair-20270115T080000Z";
  const std::vector<Repair> expected{
      {"backup", "the store as it was is in " + kept.string()},
      {"leaves", "the leaf of thread t1 was 99, which is not there; it is now " +
                     std::to_string(to_int(end))},
      {"leaves",
       "the leaf of thread t2 was 99, which is not there; it is now none: the thread has no "
       "message"}};
  EXPECT_EQ(store.repair(), expected);
  EXPECT_EQ(checked("leaves").status, CheckStatus::ok);
  EXPECT_EQ(OtherProgram(kept).ask("SELECT current_leaf_id FROM threads WHERE id = 't1'"), "99");
  EXPECT_EQ(contents(store, thread).size(), 2u);
}

TEST_F(RepairTest, AForkWithoutMessagesOfItsOwnGoesBackToWhereItBegan) {
  const MessageId message = append(thread);
  const ThreadId fork = store.threads().fork({.source = thread}).thread.id;
  const std::string row = " WHERE id = '" + fork.str() + "'";
  other.run("UPDATE threads SET current_leaf_id = 99" + row);
  store.repair();
  EXPECT_EQ(other.ask("SELECT current_leaf_id FROM threads" + row),
            std::to_string(to_int(message)));
}

TEST_F(RepairTest, WhatDeadProcessesLeftIsRemovedAndWhatLivingOnesDoIsNot) {
  const std::string dead = "4194305";  // above the highest number that a process can have
  for (const std::string& name :
       {"state.db.1." + dead + ".tmp", "state.db.1." + dead + ".tmp-journal",
        "state.db." + dead + ".tmp", "state.db.v3.bak." + dead,
        std::string("session_index.jsonl.compact"), std::string("state.db.v3.bak"),
        "notes." + dead + ".tmp", "state.db." + std::to_string(::getpid()) + ".tmp"}) {
    write_text(dir / name, "x");
  }
  EXPECT_EQ(checked("temporaries").status, CheckStatus::warning);
  EXPECT_EQ(store.repair().size(), 5u);
  EXPECT_EQ(checked("temporaries").status, CheckStatus::ok);
  EXPECT_TRUE(fs::exists(dir / "state.db.v3.bak"));
  EXPECT_TRUE(fs::exists(dir / ("notes." + dead + ".tmp")));
  EXPECT_TRUE(fs::exists(dir / ("state.db." + std::to_string(::getpid()) + ".tmp")));
}

TEST_F(RepairTest, FilesThatOthersMayReadAreClosed) {
  append(thread);
  ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
  ASSERT_EQ(::chmod((dir / "session_index.jsonl").c_str(), 0666), 0);
  const std::vector<Repair> expected{
      {"file_modes", file.string() + " had mode 0644, now 0600"},
      {"file_modes", (dir / "session_index.jsonl").string() + " had mode 0666, now 0600"}};
  EXPECT_EQ(store.repair(), expected);
  EXPECT_EQ(checked("file_modes").status, CheckStatus::ok);
}

TEST_F(RepairTest, TheIndexIsMendedFromTheDatabase) {
  fs::remove(dir / "session_index.jsonl");
  EXPECT_EQ(store.repair(), (std::vector<Repair>{{"index", "1 entry mended from the database"}}));
  EXPECT_EQ(store.repair(), std::vector<Repair>{});
}

TEST_F(RepairTest, TheDoctorFindsMessagesThatAreTheirOwnAncestors) {
  const MessageId first = append(thread);
  const MessageId last = append(thread);
  EXPECT_EQ(checked("cycles").status, CheckStatus::ok);
  other.run("UPDATE messages SET parent_entry_id = " + std::to_string(to_int(last)) +
            " WHERE id = " + std::to_string(to_int(first)));
  EXPECT_EQ(checked("cycles").detail,
            "messages that are their own ancestors: " + std::to_string(to_int(first)));
}

TEST_F(RepairTest, AColumnThatIsGoneIsNamed) {
  EXPECT_EQ(checked("schema").status, CheckStatus::ok);
  other.run("ALTER TABLE thread_removals RENAME COLUMN up_to_id TO up_to_ix");
  EXPECT_EQ(checked("schema").detail, "columns that are gone: thread_removals.up_to_id");
  EXPECT_EQ(checked("integrity").status, CheckStatus::ok);
}

}  // namespace
}  // namespace threadstore::test
