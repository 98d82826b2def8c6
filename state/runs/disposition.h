#pragma once

#include <cstdint>
#include <optional>

#include "threadstore/run_words.h"
#include "threadstore/time.h"

namespace threadstore::state {

struct RunHead;

/// What a run left behind, as sequences of its log.
struct RecoveryFacts {
  bool unsafe_call = false;                  ///< started and not known to have ended well
  std::optional<std::int64_t> checkpoint{};  ///< the newest
  std::optional<std::int64_t> effect{};      ///< the newest finished call that ran
  std::optional<std::int64_t> artifact{};    ///< the newest
  bool has_children = false;
};

/// What can be done with the run; the first rule that matches counts. Calls that were only
/// requested, denied or interrupted are safe: nothing ran.
RecoveryDisposition classify(const RunHead& run, const RecoveryFacts& facts, UnixMillis now);

/// Whether one of the run's own budgets is used up.
bool budget_is_used_up(const RunHead& run);

}  // namespace threadstore::state
