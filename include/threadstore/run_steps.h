#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "threadstore/ids.h"
#include "threadstore/page.h"
#include "threadstore/time.h"

namespace threadstore {

namespace state {
struct RunScope;
}

/// One attempt at a step of a run. A row of `run_steps`, and with it an event of the run's log:
/// `step.committed` {step, attempt, tokens} for the attempt that counts, whose sequence the row
/// keeps, `step.recorded` with the same payload for every other. The texts stand only in the row.
struct RunStep {
  RunId run_id{};
  std::int64_t step = 0;     ///< from 1; imported runs may have a step 0
  std::int64_t attempt = 0;  ///< from 1: retries of the same step, in the order of their storage
  std::string decision{};
  std::string result{};
  std::string prompt{};
  std::string tool_call{};  ///< JSON text or empty; not looked at
  std::int64_t tokens = 0;
  UnixMillis created_at = 0;
  std::optional<std::int64_t> committed_sequence{};  ///< absent: this attempt was not committed

  friend bool operator==(const RunStep&, const RunStep&) = default;
};

struct NewStep {
  std::int64_t step = 0;   ///< from 1
  std::string decision{};  ///< every text may be empty; at most the content limit
  std::string result{};
  std::string prompt{};
  std::string tool_call{};
  std::int64_t tokens = 0;  ///< not negative
};

/// Which steps to list; every set field must match.
struct StepFilter {
  std::int64_t from_step = 0;  ///< step >= this
  bool committed_only = false;
  std::size_t limit = 100;             ///< 1 to 1,000
  std::optional<std::string> after{};  ///< a page's `next`
};

/// Where a run goes on.
struct ResumePoint {
  std::int64_t committed = 0;  ///< the highest committed step, 0 for none
  std::int64_t from_step = 1;  ///< the step to drive next
  /// False when the run is over for good: nothing was written, and nothing is to be driven.
  bool resumed = false;

  friend bool operator==(const ResumePoint&, const ResumePoint&) = default;
};

/// The steps of the runs of one workspace. A light handle like `Runs`; every call is atomic: the
/// row, its event and the sums that it changes are there together or not at all. Tokens are summed
/// for the run and for every run above it; they do not count against budgets, which `RunAccounts`
/// keeps.
class RunSteps {
 public:
  /// Stores an attempt that is not the step's last word: a retry will follow. `conflict` when the
  /// run is not active, the step is committed, or the sum of tokens would leave 63 bits.
  RunStep record(const RunId& run, const NewStep& step);
  /// Stores the attempt that counts. `conflict` as above: a committed step is not committed again
  /// (details: step, committed_sequence).
  RunStep commit(const RunId& run, const NewStep& step);

  /// By step, then attempt.
  Page<RunStep> list(const RunId& run, const StepFilter& filter = {}) const;
  /// The highest number of any attempt; 0 without one. Costs the same however many there are.
  std::int64_t last(const RunId& run) const;
  /// The highest committed one, from which a run goes on.
  std::int64_t last_committed(const RunId& run) const;
  /// Tokens of all attempts, committed or not.
  std::int64_t spent_tokens(const RunId& run) const;
  /// The same with all runs below; of those that were removed too. Costs the same however many
  /// runs and steps there are.
  std::int64_t spent_tokens_tree(const RunId& run) const;

  /// Says that an executor drives the run on, behind its last committed step: one event
  /// `run.resumed`, also when the run was active all the time and only its process died. A
  /// suspended run is continued; one that failed, was cancelled, or stopped for a limit which it
  /// has not used up (any more) is active again. A run that completed, was denied
  /// (`permission_denied`) or reached the ceiling of its tree stays as it is: `resumed` is false.
  /// `conflict` when a call's effect is unknown or unsafe, a living process holds the run, or a
  /// stopped run was delegated by a call.
  ResumePoint resume(const RunId& run, const std::string& detail = "");

 private:
  friend class Runs;
  friend class RunTrace;
  explicit RunSteps(std::shared_ptr<const state::RunScope> scope) : scope_(std::move(scope)) {}
  std::shared_ptr<const state::RunScope> scope_;
};

}  // namespace threadstore
