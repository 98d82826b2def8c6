// The n-th call of each kind fails, once and for ever, under every call of the store's interface:
// it is reported, nothing is half done, the store can be used, and nothing is left open or locked.
// And promise 7: a write that fails at its commit is never there twice, whatever came after.
//
//   THREADSTORE_FAULT_SWEEP=1    every position instead of a few of each call
//   THREADSTORE_FAULT_STEP=1     … really every one (default: every 7th of the frequent kinds)
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdlib>

#include "state/db/connection.h"
#include "tests/crash/crash_sweep.h"
#include "tests/crash/fault_sweep.h"
#include "tests/crash/store_content.h"
#include "tests/support/crash_disk.h"
#include "threadstore/error.h"

namespace threadstore::test {
namespace {

using testing::IsEmpty;

bool whole_sweep() { return std::getenv("THREADSTORE_FAULT_SWEEP") != nullptr; }

std::size_t step_of_frequent_calls() { return number_setting("THREADSTORE_FAULT_STEP", 7); }

/// The short form meets one position of each call, spread over the subjects.
FaultSweep::Positions one_of(std::size_t first) { return {.first = first, .most = 1}; }

/// At most so many of the violations: one mistake shows in many places.
void report(const FaultSweep& sweep) {
  const auto& found = sweep.violations();
  for (std::size_t i = 0; i < found.size() && i < 20; ++i) ADD_FAILURE() << found[i];
  if (found.size() > 20) ADD_FAILURE() << "and " << found.size() - 20 << " more";
}

struct Kind {
  DiskVerb verb;
  int error;
  bool frequent = false;
};

class FaultTest : public testing::TestWithParam<Kind> {};

TEST_P(FaultTest, EveryCallReportsItAndLeavesTheStoreWhole) {
  const Kind kind = GetParam();
  const std::size_t step = kind.frequent ? step_of_frequent_calls() : 1;
  FaultSweep sweep;
  std::size_t met = 0;
  std::size_t number = 0;
  for (const FaultSubject& subject : fault_subjects()) {
    const std::size_t first = kind.frequent ? 1 + 7 * number++ % 11 : 1;
    met += sweep.sweep(subject, kind.verb, kind.error,
                       whole_sweep() ? FaultSweep::Positions{.step = step} : one_of(first));
  }
  EXPECT_GT(met, 0U);
  report(sweep);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, FaultTest,
    testing::Values(Kind{DiskVerb::open, EMFILE}, Kind{DiskVerb::read, EIO, true},
                    Kind{DiskVerb::write, EIO, true}, Kind{DiskVerb::write, ENOSPC, true},
                    Kind{DiskVerb::truncate, EIO}, Kind{DiskVerb::sync, EIO},
                    Kind{DiskVerb::sync_directory, EIO}, Kind{DiskVerb::rename, EIO},
                    Kind{DiskVerb::unlink, EIO}, Kind{DiskVerb::lock, ENOLCK, true},
                    Kind{DiskVerb::map, ENOMEM}, Kind{DiskVerb::look, EIO, true},
                    Kind{DiskVerb::chmod, EPERM}, Kind{DiskVerb::link, EPERM}),
    [](const auto& kind) {
      return std::string(to_string(kind.param.verb)) + "_" +
             (kind.param.error == ENOSPC ? "ENOSPC" : "refused");
    });

TEST(MemoryFaultTest, AConnectionThatFailsToOpenLeavesNothing) {
  const TempDir directory;
  const std::string file = directory / "state.db";
  StateStore::open(file);
  const auto open = [&] {
    try {
      const db::Connection connection({.file = file, .location = file}, db::Role::writer);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::io) << error.what();
    }
  };
  open();  // what SQLite keeps for good is there now
  const std::int64_t used = sqlite3_memory_used();
  std::size_t nth = 1;
  for (;; ++nth) {
    fail_allocation(nth, /*for_ever=*/false);
    open();
    if (stop_failing_allocations() == 0) break;
    ASSERT_EQ(sqlite3_memory_used(), used) << "allocation " << nth;
  }
  EXPECT_GT(nth, 20U);
}

TEST(MemoryFaultTest, EveryCallReportsItAndLeavesTheStoreWhole) {
  FaultSweep sweep;
  const std::size_t step = 9 * step_of_frequent_calls();
  std::size_t met = 0;
  std::size_t number = 0;
  for (const FaultSubject& subject : fault_subjects()) {
    const std::size_t first = 1 + 97 * number++ % 800;
    met += sweep.sweep_memory(subject,
                              whole_sweep() ? FaultSweep::Positions{.step = step} : one_of(first));
  }
  EXPECT_GT(met, 0U);
  report(sweep);
}

}  // namespace
}  // namespace threadstore::test
