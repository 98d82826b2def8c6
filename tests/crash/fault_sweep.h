#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/crash/fault_subjects.h"
#include "tests/support/fault_injector.h"
#include "tests/support/temp_dir.h"

namespace threadstore::test {

/// Lets every subject meet faults, and judges what is left: the call is refused with an `Error` (or
/// succeeds all the same), nothing of a refused call is in the store, all of a successful one is,
/// the store can be used, and neither descriptor nor lock is left behind. A refusal that says that
/// it came after a commit (a removal has several) leaves the rest to the next opener, who does it.
class FaultSweep {
 public:
  FaultSweep();

  /// Which n-th calls are to fail.
  struct Positions {
    std::size_t first = 1;
    std::size_t step = 1;
    std::size_t most = SIZE_MAX;  ///< so many of them
  };

  /// Lets the subject's n-th calls of the kind fail, once and for ever, until the call has no n-th
  /// one. How many faults it met.
  std::size_t sweep(const FaultSubject& subject, DiskVerb verb, int error, Positions positions);
  std::size_t sweep_memory(const FaultSubject& subject, Positions positions);

  /// What was found: the subject, the fault, and what is wrong after it.
  const std::vector<std::string>& violations() const { return violations_; }

 private:
  using Content = std::vector<std::string>;
  struct Faultless {
    std::map<std::string, int> rows;    ///< of each table after the call
    std::set<std::string> descriptors;  ///< of the store's files, after the store was closed
    std::set<std::string> files;
  };
  struct Answer {
    bool refused = false;
    bool committed = false;  ///< … after some of it was stored, and the error says so
    std::optional<ErrorCode> code;
    std::string what;
  };

  /// Runs the subject on a fresh copy with `arm` and `disarm` around its call; false when no fault
  /// was met.
  bool meet(const FaultSubject& subject, const std::string& fault, const std::function<void()>& arm,
            const std::function<std::size_t()>& disarm);
  /// Calls `met(nth, for_ever)` for the positions until it is false; how often it was true.
  static std::size_t each_fault(Positions positions,
                                const std::function<bool(std::size_t, bool)>& met);
  void put_sample(const FaultSubject& subject);
  Answer call(const FaultSubject& subject, std::optional<StateStore>& store);
  void judge(const FaultSubject& subject, const Answer& answer, std::optional<StateStore>& store);
  void use(const FaultSubject& subject, std::optional<StateStore>& store);
  void judge_after_next_open(const Answer& answer, const std::map<std::string, int>& wanted);
  const Faultless& faultless(const FaultSubject& subject);
  void say(const std::string& what) { violations_.push_back(about_ + ": " + what); }

  std::filesystem::path home() const { return directory_.path(); }
  std::filesystem::path database() const { return directory_ / "state.db"; }
  OpenOptions options() const;

  const TempDir directory_;
  std::map<std::string, std::string> sample_;  ///< files by name
  Content before_;
  ManualClock clock_;
  FaultInjector injector_;
  WatchDisk watch_;
  std::map<std::string, Faultless> faultless_;
  std::string about_;
  bool may_leave_files_ = false;  ///< the fault is that no file can be removed
  std::vector<std::string> violations_;
};

}  // namespace threadstore::test
