// A write that fails at its commit (promise 7): the caller is told that nobody knows, and a retry
// with the same key stores it exactly once, at once or after a crash, whatever the disk kept.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/crash/store_content.h"
#include "tests/support/crash_disk.h"
#include "tests/support/fault_injector.h"
#include "tests/support/opened_store.h"
#include "tests/support/temp_dir.h"
#include "threadstore/error.h"

namespace threadstore::test {
namespace {

const ThreadId thread("thread");
const NewMessage message{.role = "user", .content = "once"};
const AppendOptions with_key{.key = "the key"};

class UnknownOutcomeTest : public testing::TestWithParam<Fault> {
 protected:
  UnknownOutcomeTest() {
    StateStore::open(database()).threads().create({.id = thread, .cwd = "/"});
  }

  std::filesystem::path database() const { return directory_ / "state.db"; }

  /// How often the message is stored; at most one of them under the key.
  static std::int64_t copies(const StateStore& store) {
    std::int64_t found = 0;
    store.messages().walk(thread, {}, [&](const Message& stored) {
      found += stored.content == message.content ? 1 : 0;
      return true;
    });
    EXPECT_EQ(store.messages().count(thread), found);
    return found;
  }

  static std::string outcome(const StateStore& store) {
    try {
      store.messages().append(thread, message, with_key);
      return "stored";
    } catch (const Error& error) {
      return std::string(to_string(error.code()));
    }
  }

  const TempDir directory_;
  const TempDir crashed_;
};

TEST_P(UnknownOutcomeTest, ARetryWithItsKeyStoresItExactlyOnce) {
  std::set<std::string> outcomes;
  for (Fault fault = GetParam();; ++fault.nth) {
    SCOPED_TRACE(describe(fault));
    const TempDir directory;
    std::filesystem::copy(directory_.path(), directory.path(),
                          std::filesystem::copy_options::recursive);
    DiskRecorder recorder(directory.path());
    FaultInjector injector(directory.path());
    injector.tell(recorder);
    const WatchDisk watch(injector);
    const auto store = StateStore::open(directory / "state.db");
    injector.arm(fault);
    const std::string said = outcome(store);
    injector.disarm();
    if (injector.refused() == 0) break;
    outcomes.insert(said);
    const std::size_t at = recorder.position();

    EXPECT_EQ(outcome(store), "stored");
    EXPECT_EQ(copies(store), 1);
    // As if the power had gone right after the failure: the disk kept some of it, or all, or none.
    CrashDisk disk(recorder);
    disk.advance(at);
    for (std::uint64_t choice = 0; choice < 12; ++choice) {
      std::mt19937_64 random(choice);
      disk.crash(static_cast<CrashStyle>(choice % 4), random, crashed_.path());
      const auto reopened = StateStore::open(crashed_ / "state.db");
      const std::int64_t kept = copies(reopened);
      EXPECT_TRUE(said == "unknown_outcome" || kept == (said == "stored" ? 1 : 0)) << said << kept;
      EXPECT_EQ(outcome(reopened), "stored");
      EXPECT_EQ(copies(reopened), 1);
      EXPECT_EQ(complaints_about(reopened), "");
    }
  }
  EXPECT_THAT(outcomes, testing::Contains("unknown_outcome"));
}

INSTANTIATE_TEST_SUITE_P(Faults, UnknownOutcomeTest,
                         testing::Values(Fault{.verb = DiskVerb::sync},
                                         Fault{.verb = DiskVerb::sync, .for_ever = true},
                                         Fault{.verb = DiskVerb::write},
                                         Fault{.verb = DiskVerb::write, .for_ever = true}),
                         [](const auto& fault) {
                           return std::string(to_string(fault.param.verb)) +
                                  (fault.param.for_ever ? "ForEver" : "Once");
                         });

}  // namespace
}  // namespace threadstore::test
