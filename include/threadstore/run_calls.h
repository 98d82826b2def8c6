#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "threadstore/ids.h"
#include "threadstore/run_record.h"
#include "threadstore/run_words.h"
#include "threadstore/time.h"

namespace threadstore {

namespace state {
struct RunScope;
}

struct NewCall {
  CallId id{};
  std::string tool_name{};
  std::string arguments = "{}";  ///< a JSON object
};

/// One call of a tool.
struct RunCall {
  RunId run_id{};
  CallId call_id{};
  std::int64_t requested_sequence = 0;
  std::string tool_name{};
  std::string arguments{};  ///< JSON text
  CallStatus status = CallStatus::requested;
  std::optional<CallOutcomeClass> outcome_class{};
  std::optional<std::string> result{};          ///< JSON text
  std::optional<std::string> result_content{};  ///< what the model is shown, when it is other text
  std::optional<std::string> error{};
  std::optional<std::string> error_code{};
  std::optional<std::string> repetition_key{};
  std::optional<std::int64_t> consecutive_count{};
  std::optional<UnixMillis> started_at{};
  std::optional<UnixMillis> completed_at{};
  std::optional<std::int64_t> finished_sequence{};

  friend bool operator==(const RunCall&, const RunCall&) = default;
};

/// How a call ended. Made by the functions below.
struct CallOutcome {
  CallOutcomeClass outcome_class = CallOutcomeClass::completed;
  std::optional<std::string> result{};          ///< JSON text
  std::optional<std::string> result_content{};  ///< of a recoverable error: what the model is shown
  std::string message{};
  std::optional<std::string> code{};  ///< a lower-case letter, then up to 63 of [a-z0-9_]
  std::optional<std::string> repetition_key{};

  static CallOutcome completed(std::string result);
  static CallOutcome failed(std::string message);
  static CallOutcome denied(std::string message);
  /// An error that the model may react to. The same `repetition_key` in consecutive calls counts.
  static CallOutcome recoverable(std::string code, std::string message, std::string observation,
                                 std::string observation_text, std::string repetition_key);
  static CallOutcome terminal(std::string code, std::string message);
  /// It may have had its effect.
  static CallOutcome uncertain(std::string code, std::string message);
};

/// The permission asked for one call. Decided once, valid for that call only.
struct RunApproval {
  RunId run_id{};
  CallId call_id{};
  std::string tool_name{};
  std::vector<Capability> capabilities{};
  std::int64_t requested_sequence = 0;
  UnixMillis requested_at = 0;
  std::optional<ApprovalDecision> decision{};
  std::optional<std::int64_t> decided_sequence{};
  std::optional<UnixMillis> decided_at{};
  std::optional<std::string> decided_by{};
  std::optional<std::string> reason{};

  friend bool operator==(const RunApproval&, const RunApproval&) = default;
};

struct Decision {
  ApprovalDecision decision = ApprovalDecision::denied;
  std::string decided_by{};
  std::optional<std::string> reason{};
};

/// A call's result as a transcript shows it: real, denied, or interrupted. Every call has one.
struct TranscriptResult {
  CallId call_id{};
  std::string tool_name{};
  std::string arguments{};
  std::string content{};  ///< the result's JSON text, the error, or why there is none
  bool is_error = false;

  friend bool operator==(const TranscriptResult&, const TranscriptResult&) = default;
};

/// The tool calls of the runs of one workspace, and their approvals. A light handle like `Runs`;
/// every call is atomic. Writes throw `conflict` when the run is not active or the call is not in
/// the state that the step starts from, `not_found` for a run or call that does not exist.
class RunCalls {
 public:
  /// Says that the model wants the call. `conflict` when the run had that id before.
  RunCall request(const RunId& run, const NewCall& call);

  /// Asks for permission: `capabilities` not empty, without duplicates. Once per call.
  RunApproval request_approval(const RunId& run, const CallId& call,
                               const std::vector<Capability>& capabilities);
  /// The first decision wins; a later one is a `conflict` that says who decided what (details:
  /// decision, decided_by, decided_at). Any process may decide, also while the run is suspended
  /// for the approval.
  RunApproval decide(const RunId& run, const CallId& call, const Decision& decision);

  /// The effect begins: requested → started, counted along the chain. Refused while an approval is
  /// undecided or denied, and when `max_tool_calls` of the chain is used up (details: exceeded).
  RunCall start(const RunId& run, const CallId& call);
  /// The effect is known. Denied starts from requested, everything else from started.
  RunCall finish(const RunId& run, const CallId& call, const CallOutcome& outcome);

  std::vector<RunCall> list(const RunId& run) const;  ///< in the order of request
  std::optional<RunCall> find(const RunId& run, const CallId& call) const;
  RunCall get(const RunId& run, const CallId& call) const;
  std::vector<TranscriptResult> transcript(const RunId& run) const;

  std::optional<RunApproval> find_approval(const RunId& run, const CallId& call) const;
  std::vector<RunApproval> approvals(const RunId& run) const;
  /// Undecided ones of all runs of the workspace, oldest first.
  std::vector<RunApproval> pending_approvals(std::size_t limit = 1000) const;

 private:
  friend class Runs;
  explicit RunCalls(std::shared_ptr<const state::RunScope> scope) : scope_(std::move(scope)) {}
  std::shared_ptr<const state::RunScope> scope_;
};

}  // namespace threadstore
