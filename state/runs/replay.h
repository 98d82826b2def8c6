#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

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

  std::int64_t last_sequence = 0;
  std::optional<std::int64_t> gap{};  ///< the first sequence that is missing
  RunLifecycle lifecycle = RunLifecycle::active;
  std::optional<RunOutcome> outcome{};
  std::optional<RunReason> reason_code{};
  std::map<std::string, Call> calls{};
  std::map<std::string, Approval> approvals{};
  std::map<std::string, RunArtifact> artifacts{};
};

/// Reads the whole log of a run.
Replay replay_log(db::Session& session, const RunId& run);

/// The usage of a run from its own log and those of the runs below that charged it.
RunUsage replay_usage(db::Session& session, const RunHead& run);

/// What the tables hold, in the same form.
Replay read_projections(db::Session& session, const RunHead& run);

}  // namespace threadstore::state
