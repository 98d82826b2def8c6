#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/opened_store.h"
#include "threadstore/state_store.h"

namespace threadstore::test {

/// The store that every call of the sweep begins with: threads "one" (with messages and much that
/// hangs on it) and "two", jobs, an active run, and a backup of something at `home / "copy.db"`.
void make_sample_store(const std::filesystem::path& home, const OpenOptions& options);

/// A call of the store's interface that a fault is to meet. All of its ids are fixed.
struct FaultSubject {
  std::string name;
  /// The call. The store is open, but for those that open it themselves: then it is empty.
  std::function<void(std::optional<StateStore>&, const std::filesystem::path& home,
                     const OpenOptions&)>
      call;
  bool opens = false;      ///< the call opens the store itself
  bool new_store = false;  ///< … where there is none
};

std::vector<FaultSubject> fault_subjects();

}  // namespace threadstore::test
