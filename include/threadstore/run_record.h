#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "threadstore/ids.h"
#include "threadstore/leases.h"
#include "threadstore/run_words.h"
#include "threadstore/time.h"

namespace threadstore {

/// The content limit: the most of one payload, arguments, result, output or checkpoint, unless
/// `OpenOptions::run_content_limit` says otherwise: 16 MiB.
inline constexpr std::size_t default_run_content_limit = 16'777'216;
/// The most of a question, a message or an answer to one.
inline constexpr std::size_t max_run_prompt = 8192;

/// What a run may use; absent means unlimited, a set value is above 0. The budgets of all ancestors
/// bind it too.
struct RunBudgets {
  std::optional<std::int64_t> max_turns{};
  std::optional<std::int64_t> timeout_seconds{};
  std::optional<std::int64_t> max_total_tokens{};
  std::optional<std::int64_t> max_tool_calls{};
  std::optional<std::int64_t> max_context_bytes{};

  friend bool operator==(const RunBudgets&, const RunBudgets&) = default;
};

/// What a run and the runs below it used. Tokens are absent until a response reported them.
struct RunUsage {
  std::int64_t model_turns = 0;
  std::optional<std::int64_t> input_tokens{};
  std::optional<std::int64_t> output_tokens{};
  std::optional<std::int64_t> total_tokens{};
  std::int64_t responses_with_usage = 0;
  std::int64_t responses_without_usage = 0;
  std::int64_t tool_calls = 0;

  TokenAccounting token_accounting() const noexcept {
    if (responses_with_usage == 0) return TokenAccounting::unavailable;
    return responses_without_usage == 0 ? TokenAccounting::complete : TokenAccounting::partial;
  }

  friend bool operator==(const RunUsage&, const RunUsage&) = default;
};

/// Where a run stands in its tree. A root is its own root at depth 0.
struct RunLineage {
  RunId root_run_id{};
  std::optional<RunId> parent_run_id{};
  std::optional<CallId> parent_call_id{};  ///< the parent's call that made it
  std::int64_t depth = 0;

  friend bool operator==(const RunLineage&, const RunLineage&) = default;
};

/// One attempt of an agent at something.
struct Run {
  RunId id{};
  std::string workspace_id{};
  std::optional<ThreadId> thread_id{};
  std::optional<MessageId> trigger_message_id{};  ///< the user's message that it answers
  std::optional<MessageId> reply_message_id{};
  std::string agent_name{};
  std::string agent_version{};
  std::string model{};
  std::optional<std::string> provider{};
  RunLifecycle lifecycle = RunLifecycle::active;
  std::optional<RunOutcome> outcome{};
  std::optional<RunReason> reason_code{};
  std::optional<std::string> reason_detail{};  ///< a JSON object
  std::optional<std::string> outcome_text{};   ///< the word that its harness stopped it with
  UnixMillis created_at = 0;
  UnixMillis updated_at = 0;
  std::optional<UnixMillis> completed_at{};  ///< when it stopped, suspensions included
  std::string input{};
  std::optional<std::string> file{};  ///< what it works on, for harnesses that name one
  std::optional<std::string> output{};
  std::optional<std::string> error{};
  std::int64_t last_sequence = 0;  ///< of its newest event
  RunBudgets budgets{};
  RunUsage usage{};
  std::int64_t suspended_ms = 0;          ///< waited in suspensions that are over
  std::int64_t elapsed_ms = 0;            ///< from creation to the stop, or until now
  std::int64_t execution_elapsed_ms = 0;  ///< without the suspensions that are over
  RunLineage lineage{};
  RecoveryDisposition recovery_disposition = RecoveryDisposition::restart_required;
  bool interrupted = false;          ///< active, and the process that held its lease is dead
  std::optional<std::string> key{};  ///< idempotency key of its creation
  std::optional<std::string> origin_source{};  ///< the store that it was imported from
  std::optional<std::string> origin_id{};      ///< its id there

  friend bool operator==(const Run&, const Run&) = default;
};

/// running (active), completed, cancelled, or failed (everything else): what older programs show.
std::string_view legacy_status(const Run& run);
/// The same for step traces: a suspended run is paused.
RunStatus run_status(const Run& run);
/// The word that a step trace shows for how the run stopped: the one that it was stopped with, else
/// the word of its reason (docs/runs.md); nothing while it is active.
std::optional<std::string> outcome_word(const Run& run);

struct NewRun {
  std::string agent_name{};
  std::string agent_version{};
  std::string model{};
  std::string input{};  ///< may be empty
  RunBudgets budgets{};
  std::optional<ThreadId> thread_id{};  ///< default for a child: its parent's
  /// Idempotency key, 1 to 200 bytes: the same key gives the same run again.
  std::optional<std::string> key{};
  std::optional<std::string> provider{};  ///< of the model
  std::optional<std::string> file{};      ///< what it works on
};

/// Who asks for a child run: a started call of the tool `agent.invoke`.
struct NewChildRun {
  RunId parent{};
  CallId call{};
  NewRun run{};
  std::int64_t max_depth = 4;
};

/// Which runs to list; every set field must match.
struct RunFilter {
  std::optional<RunLifecycle> lifecycle{};
  std::optional<RunOutcome> outcome{};
  std::optional<ThreadId> thread{};
  std::optional<std::string> agent_name{};
  std::optional<UnixMillis> created_since{};  ///< created_at >= this
  std::optional<UnixMillis> created_until{};  ///< created_at < this
  bool roots_only = false;
  bool interrupted_only = false;
  std::size_t limit = 50;              ///< 1 to 1,000
  std::optional<std::string> after{};  ///< a page's `next`
};

/// How a run stops. Made by the functions below.
struct RunEnd {
  RunReason reason = RunReason::final_response;
  std::optional<std::string> output{};
  /// The error of a failure, the message of a block, the question to the user.
  std::string text{};
  std::optional<std::string> detail{};             ///< a JSON object, for failures
  std::optional<std::string> assistant_message{};  ///< JSON kept with a suspension
  std::optional<std::string> outcome_text{};       ///< kept beside the reason; 1 to 1,024 bytes
  /// When runs below are still active: false stops them with it (a completion is always refused).
  bool refuse_with_active_children = false;

  static RunEnd completed(std::string output);
  static RunEnd failed(std::string error, RunReason reason = RunReason::legacy_failure,
                       std::optional<std::string> detail = {});
  static RunEnd cancelled();
  static RunEnd blocked(RunReason reason, std::string message);
  static RunEnd needs_user_input(RunReason reason, std::string question);
  static RunEnd limit_exceeded(RunReason reason);
  /// How a step trace says it: success, awaiting_approval, denied, step_cap_reached,
  /// time_budget_exceeded, cost_budget_exceeded, budget_ceiling_reached, escalated; every other
  /// word is a failure (`legacy_failure`). The word is kept as `outcome_text`.
  static RunEnd from_word(const std::string& word);
};

/// Whether a budget allows what was asked, and which link of the chain does not.
struct BudgetDecision {
  std::optional<RunReason> exceeded{};
  std::optional<RunId> limited_by{};  ///< absent when it was the thread's goal

  bool allowed() const noexcept { return !exceeded; }
  friend bool operator==(const BudgetDecision&, const BudgetDecision&) = default;
};

/// Tokens of one model response.
struct TokenUsage {
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  std::int64_t total_tokens = 0;

  friend bool operator==(const TokenUsage&, const TokenUsage&) = default;
};

/// A lease on a run together with what was found.
struct HeldRun {
  Run run;
  Lease lease;
};

}  // namespace threadstore
