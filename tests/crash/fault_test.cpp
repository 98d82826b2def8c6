// The n-th call of each kind fails, once and for ever, under every call of the store's interface:
// it is reported, nothing is half done, the store can be used, and nothing is left open or locked.
// And promise 7: a write that fails at its commit is never there twice, whatever came after.
//
//   THREADSTORE_FAULT_SWEEP=1    runs it: it is not yet part of every run, since a removal, whose
//                                commits are several, and SQLite's memory are not judged rightly
//   THREADSTORE_FAULT_STEP=1     every n (default: every 7th of the frequent kinds)
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/crash/fault_sweep.h"
#include "tests/crash/store_content.h"
#include "tests/support/crash_disk.h"
#include "threadstore/error.h"

namespace threadstore::test {
namespace {

using testing::IsEmpty;

std::size_t step_of_frequent_calls() {
  const char* wanted = std::getenv("THREADSTORE_FAULT_STEP");
  return wanted != nullptr && *wanted != '\0' ? std::strtoul(wanted, nullptr, 10) : 7;
}

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

bool wanted() { return std::getenv("THREADSTORE_FAULT_SWEEP") != nullptr; }

TEST_P(FaultTest, EveryCallReportsItAndLeavesTheStoreWhole) {
  if (!wanted()) GTEST_SKIP() << "THREADSTORE_FAULT_SWEEP=1 runs it";
  const Kind kind = GetParam();
  const std::size_t step = kind.frequent ? step_of_frequent_calls() : 1;
  FaultSweep sweep;
  std::size_t met = 0;
  for (const FaultSubject& subject : fault_subjects()) {
    met += sweep.sweep(subject, kind.verb, kind.error, step);
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
                    Kind{DiskVerb::chmod, EPERM}),
    [](const auto& kind) {
      return std::string(to_string(kind.param.verb)) + "_" +
             (kind.param.error == ENOSPC ? "ENOSPC" : "refused");
    });

TEST(MemoryFaultTest, EveryCallReportsItAndLeavesTheStoreWhole) {
  if (!wanted()) GTEST_SKIP() << "THREADSTORE_FAULT_SWEEP=1 runs it";
  FaultSweep sweep;
  std::size_t met = 0;
  for (const FaultSubject& subject : fault_subjects()) {
    met += sweep.sweep_memory(subject, 9 * step_of_frequent_calls());
  }
  EXPECT_GT(met, 0U);
  report(sweep);
}

}  // namespace
}  // namespace threadstore::test
