#pragma once

#include <chrono>
#include <cstddef>

namespace threadstore::state {

/// How long one read may go on: a snapshot that stays open keeps the WAL from being reset. At most
/// 1,000 rows, about 5 ms and 1 MiB of text; whoever has more to read goes on in the next snapshot.
class SnapshotBudget {
 public:
  /// Counts a row; false when it was the last of this snapshot.
  bool spend(std::size_t bytes = 0) {
    ++rows_;
    bytes_ += bytes;
    if (rows_ >= 1000 || bytes_ >= (std::size_t{1} << 20)) return false;
    return rows_ % 16 != 0 || std::chrono::steady_clock::now() < end_;
  }

 private:
  std::chrono::steady_clock::time_point end_ =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
  std::size_t rows_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace threadstore::state
