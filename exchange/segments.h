#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "exchange/export_source.h"

namespace threadstore::exchange {

/// A stretch of a conversation without a fork: it begins at a root or behind a fork and goes on to
/// the next fork or the end.
struct Segment {
  std::vector<std::size_t> nodes;     ///< of the source, from the root on; never empty
  std::optional<std::size_t> parent;  ///< the segment that it continues
  std::vector<std::size_t> children;  ///< those that continue it, in the order of their ids
  std::size_t position = 0;           ///< among its siblings, from 0
  std::size_t depth = 0;              ///< forks above it
  bool on_branch = false;             ///< holds messages of the branch that the export follows
};

/// Which child comes first behind its parent.
enum class BranchOrder { followed_first, followed_last };

/// All segments, each parent before its children and each child with what is below it together.
std::vector<Segment> segments_of(const ExportSource& source, BranchOrder order);

/// The segments that nothing comes before, in the order of their ids.
std::vector<std::size_t> roots_of(const std::vector<Segment>& segments);

}  // namespace threadstore::exchange
