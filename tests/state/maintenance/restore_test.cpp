#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/state/maintenance/store_files.h"
#include "tests/state/threads/other_program.h"
#include "tests/support/process_swarm.h"
#include "tests/support/temp_dir.h"

namespace threadstore::test {
namespace {

/// Restoring wants the store closed: these tests open it themselves.
class RestoreTest : public ::testing::Test {
 protected:
  RestoreTest() {
    const StateStore store = StateStore::open(file);
    store.threads().create({.id = thread, .name = "first", .cwd = "/w"});
    store.messages().append(thread, {.role = "user", .content = "one"});
    store.backup(backup);
    store.messages().append(thread, {.role = "user", .content = "two"});
    store.threads().create({.id = ThreadId("t2"), .name = "second", .cwd = "/w"});
  }

  std::vector<std::string> texts(const fs::path& database) const {
    return contents(StateStore::open(database, {.mode = OpenMode::read_only}), thread);
  }

  const TempDir dir;
  const fs::path file = dir / "state.db";
  const fs::path backup = dir / "backup";
  const ThreadId thread{"t1"};
  RestoreOptions options{.deadline = std::chrono::milliseconds(50),
                         .clock = [] { return UnixMillis{1'800'000'000'000}; }};
};

TEST_F(RestoreTest, TheBackupTakesThePlaceAndTheOldStoreStaysBesideIt) {
  const Restored done = restore(backup, file, options);
  const fs::path kept = dir / "state.db.before-restore-20270115T080000Z";
  EXPECT_EQ(done.database, file);
  ASSERT_TRUE(done.kept);
  EXPECT_EQ(*done.kept, kept);
  EXPECT_EQ(texts(file), std::vector<std::string>{"one"});
  EXPECT_EQ(texts(kept), (std::vector<std::string>{"one", "two"}));
  const StateStore store = StateStore::open(file);
  EXPECT_TRUE(store.verify_index().ok());
  EXPECT_TRUE(store.index()->find_by_name("second").empty());
  store.messages().append(thread, {.role = "user", .content = "goes on"});
}

TEST_F(RestoreTest, WhereNoStoreIsOneIsMade) {
  const fs::path fresh = dir / "new" / "state.db";
  EXPECT_FALSE(restore(backup, fresh, options).kept);
  EXPECT_EQ(texts(fresh), std::vector<std::string>{"one"});
}

TEST_F(RestoreTest, AStoreThatAnotherProcessHasOpenIsLeftAlone) {
  ProcessSwarm holder({{STORE_USER, file, "hold", "t1"}});
  const std::string error = error_of([&] { restore(backup, file, options); });
  EXPECT_THAT(error, ::testing::StartsWith("busy: "));
  EXPECT_THAT(error,
              ::testing::HasSubstr("process " + std::to_string(holder[0].pid()) + " (store_user)"));
  holder.go();
  holder.finish();
  EXPECT_EQ(texts(file), (std::vector<std::string>{"one", "two"}));
  restore(backup, file, options);
  EXPECT_EQ(texts(file), std::vector<std::string>{"one"});
}

TEST_F(RestoreTest, AStoreThatThisProcessHasOpenIsLeftAlone) {
  const StateStore store = StateStore::open(file);
  store.messages().count(thread);
  EXPECT_THAT(error_of([&] { restore(backup, file, options); }), ::testing::StartsWith("busy: "));
  store.messages().append(thread, {.role = "user", .content = "three"});
}

TEST_F(RestoreTest, ADamagedBackupChangesNothing) {
  {
    std::fstream bytes(backup, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(4096 * 3);
    bytes << std::string(4096 * 2, '\xff');
  }
  const auto before = names_in(dir.path());
  EXPECT_THAT(error_of([&] { restore(backup, file, options); }),
              ::testing::StartsWith("damaged: "));
  EXPECT_EQ(names_in(dir.path()), before);
  EXPECT_EQ(texts(file), (std::vector<std::string>{"one", "two"}));
}

TEST_F(RestoreTest, ADamagedRecordNeedsConsent) {
  OtherProgram(backup).run("UPDATE messages SET content = 'eno'");
  EXPECT_THAT(error_of([&] { restore(backup, file, options); }),
              ::testing::HasSubstr("1 message is not what was stored"));
  options.accept_findings = true;
  EXPECT_EQ(restore(backup, file, options).findings.size(), 1u);
  EXPECT_EQ(texts(file), std::vector<std::string>{"eno"});
}

TEST_F(RestoreTest, AStoreThatCannotBeReadIsReplacedAndKept) {
  write_text(file, std::string(8192, 'x'));
  const Restored done = restore(backup, file, options);
  EXPECT_EQ(texts(file), std::vector<std::string>{"one"});
  ASSERT_TRUE(done.kept);
  EXPECT_EQ(fs::file_size(*done.kept), 8192u);
}

TEST_F(RestoreTest, WhatIsNoBackupIsRefused) {
  EXPECT_THAT(error_of([&] { restore(dir / "no", file, options); }),
              ::testing::StartsWith("not_found: "));
  EXPECT_THAT(error_of([&] { restore(file, file, options); }),
              ::testing::StartsWith("invalid_argument: "));
  write_text(backup, std::string(8192, 'x'));
  EXPECT_THAT(error_of([&] { restore(backup, file, options); }),
              ::testing::StartsWith("damaged: "));
}

}  // namespace
}  // namespace threadstore::test
