#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace threadstore::session_index {

/// A hash table from hashes to row numbers: several rows may share a hash, the caller compares what
/// the rows say. Open addressing in one array, so that reading a hundred thousand lines makes no
/// allocation per line. Nothing is ever removed. Not thread-safe.
class SlotTable {
 public:
  using Slot = std::uint32_t;

  void reserve(std::size_t count) {
    if (count * 2 > cells_.size()) grow(count);
  }

  void insert(std::uint32_t hash, Slot slot) {
    reserve(++count_);
    place({hash, slot});
  }

  /// Calls `visit(slot)` for each slot of this hash until it returns true; false when none did.
  template <class Visit>
  bool find(std::uint32_t hash, Visit&& visit) const {
    if (cells_.empty()) return false;
    for (std::size_t at = hash & mask(); cells_[at].slot != empty; at = (at + 1) & mask()) {
      if (cells_[at].hash == hash && visit(cells_[at].slot)) return true;
    }
    return false;
  }

 private:
  static constexpr Slot empty = UINT32_MAX;
  struct Cell {
    std::uint32_t hash = 0;
    Slot slot = empty;
  };

  std::size_t mask() const { return cells_.size() - 1; }

  void place(Cell cell) {
    std::size_t at = cell.hash & mask();
    while (cells_[at].slot != empty) at = (at + 1) & mask();
    cells_[at] = cell;
  }

  /// At most half full afterwards with `count` slots; the size is a power of two.
  void grow(std::size_t count) {
    std::size_t size = 64;
    while (size < count * 2) size *= 2;
    std::vector<Cell> old(size);
    old.swap(cells_);
    for (const Cell& cell : old) {
      if (cell.slot != empty) place(cell);
    }
  }

  std::vector<Cell> cells_;
  std::size_t count_ = 0;
};

}  // namespace threadstore::session_index
