#pragma once

#include "state/runs/replay.h"
#include "threadstore/run_memory.h"

namespace threadstore::state {

/// A run as its log tells it, and where its tables differ.
struct Comparison {
  RunHead run{};  ///< as it was when the comparison began and when it ended
  Replay log{};
  RunUsage charges{};                 ///< of the runs below, also of those that were removed
  RunUsage usage{};                   ///< own and charges
  std::int64_t tree_step_tokens = 0;  ///< the least that it can be
  RunDifferences differences{};
};

/// Compares a run with its log, in short snapshots; begins again when the run changed meanwhile.
/// Throws `busy` when it keeps changing.
Comparison compare_run(const RunScope& scope, const RunId& run);

/// True when nothing happened to a run between the two looks at it.
bool is_unchanged(const RunHead& before, const RunHead& now);

/// How often a comparison begins again before it gives up.
inline constexpr int most_comparisons = 5;
[[noreturn]] void throw_always_changing(const RunId& run);

}  // namespace threadstore::state
