#pragma once

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>

#include "tests/support/fault_seam.h"

namespace threadstore::test {

/// Which call is to fail: the n-th of its kind, once or from then on.
struct Fault {
  DiskVerb verb = DiskVerb::write;
  std::size_t nth = 1;
  bool for_ever = false;
  int error = EIO;
};
std::string describe(const Fault& fault);

/// Refuses the calls that a fault names, below one directory, while it is armed.
class FaultInjector : public DiskWatcher {
 public:
  explicit FaultInjector(std::filesystem::path directory) : directory_(std::move(directory)) {}

  void arm(const Fault& fault) { fault_ = fault, seen_ = refused_ = 0, armed_ = true; }
  void disarm() { armed_ = false; }

  /// How many calls were refused since it was armed.
  std::size_t refused() const { return refused_; }

  int refuse(const DiskCall& call) override;
  void done(const DiskCall& call) override {
    if (then_ != nullptr) then_->done(call);
  }

  /// Who is told of what was done.
  void tell(DiskWatcher& watcher) { then_ = &watcher; }

 private:
  std::filesystem::path directory_;
  Fault fault_{};
  bool armed_ = false;
  std::size_t seen_ = 0;
  std::size_t refused_ = 0;
  DiskWatcher* then_ = nullptr;
};

/// SQLite's memory, where an allocation can be refused. Only where `install_failing_memory` was
/// called before SQLite's first use in the process.
void install_failing_memory();
void fail_allocation(std::size_t nth, bool for_ever);
/// How many allocations were refused since.
std::size_t stop_failing_allocations();

}  // namespace threadstore::test
