#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "state/runs/import_mark.h"
#include "state/runs/run_record.h"
#include "threadstore/run_calls.h"
#include "threadstore/run_memory.h"

namespace threadstore::state {

/// What a run's log alone says of the tables that are made from it. Contents, which the log does
/// not hold, are left out.
struct Replay {
  struct Call {
    std::int64_t requested_sequence = 0;
    std::string tool_name{};
    CallStatus status = CallStatus::requested;
    std::optional<CallOutcomeClass> outcome_class{};
    std::optional<std::string> error{};
    std::optional<std::string> error_code{};
    std::optional<std::string> repetition_key{};
    std::optional<std::int64_t> consecutive_count{};
    std::optional<UnixMillis> started_at{};
    std::optional<UnixMillis> completed_at{};
    std::optional<std::int64_t> finished_sequence{};

    friend bool operator==(const Call&, const Call&) = default;
  };
  struct Approval {
    std::string capabilities{};
    std::int64_t requested_sequence = 0;
    UnixMillis requested_at = 0;
    std::optional<ApprovalDecision> decision{};
    std::optional<std::int64_t> decided_sequence{};
    std::optional<UnixMillis> decided_at{};
    std::optional<std::string> decided_by{};
    std::optional<std::string> reason{};

    friend bool operator==(const Approval&, const Approval&) = default;
  };

  /// A deferred approval.
  struct Request {
    std::int64_t step = 0;
    std::string act{};
    std::string target{};
    Approval approval{};  ///< its capabilities are empty

    friend bool operator==(const Request&, const Request&) = default;
  };
  struct Step {
    std::int64_t tokens = 0;
    UnixMillis created_at = 0;
    std::optional<std::int64_t> committed_sequence{};

    friend bool operator==(const Step&, const Step&) = default;
  };
  struct Spawn {
    std::string child{};
    std::string goal{};

    friend bool operator==(const Spawn&, const Spawn&) = default;
  };
  using Place = std::pair<std::int64_t, std::int64_t>;  ///< step and attempt, or step and ordinal

  std::int64_t last_sequence = 0;
  std::optional<std::int64_t> gap{};  ///< the first sequence that is missing
  RunLifecycle lifecycle = RunLifecycle::active;
  std::optional<RunOutcome> outcome{};
  std::optional<RunReason> reason_code{};
  std::optional<std::string> outcome_text{};
  std::optional<std::string> provider{};
  RunUsage own_usage{};
  std::map<std::string, Call> calls{};
  std::map<std::string, Approval> approvals{};
  std::map<std::string, RunArtifact> artifacts{};
  std::map<std::int64_t, Request> requests{};
  std::map<Place, Step> steps{};
  std::map<Place, Spawn> spawns{};
  std::optional<ImportedState> imported{};  ///< counts from its last imported event on

  std::int64_t step_tokens() const;
};

// All of these read in short snapshots: the run may change between them.

/// Replays what is behind the events that `replay` has seen, to the end of the log.
void replay_log(const RunScope& scope, const RunId& run, Replay& replay);

/// What runs below charged the run with, from their logs.
RunUsage replay_charges(const RunScope& scope, const RunHead& run);

/// What the tables hold, in the same form. Usage is that of the run's row, without what it was
/// charged with.
Replay read_projections(const RunScope& scope, const RunHead& run);

}  // namespace threadstore::state
