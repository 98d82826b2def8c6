// A crash at any moment of a long script of store operations, in the model of a disk that
// tests/support/crash_disk.h describes. What was acknowledged is there, the operation under way is
// wholly there or wholly absent, and the store is sound.
//
//   THREADSTORE_CRASH_SEEDS=N    N scripts instead of 2, every position instead of some
//   THREADSTORE_CRASH_SEED=S     the first script's seed (default 1)
//   THREADSTORE_CRASH_STATES=N   about N crashes of each script (default 120; with SEEDS all)
//   THREADSTORE_CRASH_REPLAY=…   looks at one crash again; a failure prints the value
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/crash/crash_run.h"

namespace threadstore::test {
namespace {

using testing::IsEmpty;
using testing::Not;

TEST(CrashTest, WhatWasAcknowledgedSurvivesAPowerCutAtAnyMoment) {
  const bool long_form = std::getenv("THREADSTORE_CRASH_SEEDS") != nullptr;
  const std::uint64_t first = number_setting("THREADSTORE_CRASH_SEED", 1);
  const std::uint64_t scripts = number_setting("THREADSTORE_CRASH_SEEDS", 2);
  for (std::uint64_t seed = first; seed < first + scripts && !HasFailure(); ++seed) {
    CrashRun run({.seed = seed});
    EXPECT_GE(run.steps(), 60U);
    const std::size_t states =
        number_setting("THREADSTORE_CRASH_STATES", long_form ? 1 << 30 : 120);
    for (const std::string& complaint : sweep(run, {.seed = seed, .states = states})) {
      ADD_FAILURE() << complaint;
    }
  }
}

TEST(CrashTest, ReplaysOneCrash) {
  const char* wanted = std::getenv("THREADSTORE_CRASH_REPLAY");
  if (wanted == nullptr) GTEST_SKIP() << "THREADSTORE_CRASH_REPLAY names no crash";
  const CrashName name = CrashName::parse(wanted);
  CrashRun run({.seed = name.seed});
  EXPECT_EQ(run.crash(name.point).value_or(""), "");
}

/// The test above bites: with one protection taken away it finds what is lost.
std::vector<std::string> without(const std::function<bool(const DiskCall&)>& leave_out) {
  CrashRun run({.seed = 1, .leave_out = leave_out});
  return sweep(run, {.seed = 1, .states = 400, .complaints = 1});
}

bool is_sync_of(const DiskCall& call, const std::string& ending) {
  return call.verb == DiskVerb::sync && call.path.string().ends_with(ending);
}

TEST(CrashModelTest, NoticesThatTheWalIsNotSynced) {
  EXPECT_THAT(without([](const DiskCall& call) { return is_sync_of(call, "-wal"); }),
              Not(IsEmpty()));
}

TEST(CrashModelTest, ACrashIsReplayedByTheNameThatItsComplaintGives) {
  const auto leave_out = [](const DiskCall& call) { return is_sync_of(call, "-wal"); };
  const std::vector<std::string> complaints = without(leave_out);
  ASSERT_THAT(complaints, Not(IsEmpty()));
  const std::string& complaint = complaints.front();
  const CrashName name = CrashName::parse(complaint.substr(complaint.find('=') + 1));
  CrashRun again({.seed = name.seed, .leave_out = leave_out});
  const std::optional<std::string> found = again.crash(name.point);
  ASSERT_TRUE(found);
  // Behind it come rows, with ids of their own.
  const std::string where = found->substr(0, found->find("acknowledged"));
  EXPECT_THAT(where, testing::HasSubstr("after step"));
  EXPECT_THAT(complaint, testing::HasSubstr(where));
  CrashRun sound({.seed = name.seed});
  EXPECT_EQ(sound.crash(name.point).value_or(""), "");
}

TEST(CrashModelTest, NoticesThatTheDatabaseIsNotSyncedBeforeTheWalIsReset) {
  EXPECT_THAT(without([](const DiskCall& call) { return is_sync_of(call, "state.db"); }),
              Not(IsEmpty()));
}

TEST(CrashModelTest, NoticesThatDirectoriesAreNotSynced) {
  EXPECT_THAT(without([](const DiskCall& call) { return call.verb == DiskVerb::sync_directory; }),
              Not(IsEmpty()));
}

TEST(CrashModelTest, NoticesThatTheIndexIsNotSynced) {
  EXPECT_THAT(without([](const DiskCall& call) { return is_sync_of(call, "index.jsonl"); }),
              Not(IsEmpty()));
}

TEST(CrashModelTest, NoticesThatACompactedIndexIsNotSyncedBeforeItsRename) {
  EXPECT_THAT(without([](const DiskCall& call) { return is_sync_of(call, ".compact"); }),
              Not(IsEmpty()));
}

}  // namespace
}  // namespace threadstore::test
