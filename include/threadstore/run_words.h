#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "threadstore/enum_names.h"

namespace threadstore {

/// Where a run stands. Active: somebody may write to it. Suspended: it waits, and can go on or be
/// abandoned. Terminal: it is over; a failed, cancelled or (with a raised budget) limited run can
/// be reopened.
enum class RunLifecycle { active, suspended, terminal };

template <>
struct EnumNames<RunLifecycle> {
  static constexpr std::array table{
      std::pair{RunLifecycle::active, std::string_view("active")},
      std::pair{RunLifecycle::suspended, std::string_view("suspended")},
      std::pair{RunLifecycle::terminal, std::string_view("terminal")},
  };
};

/// The same in the words of a step trace: active, suspended, and terminal with or without success.
enum class RunStatus { running, paused, completed, failed };

template <>
struct EnumNames<RunStatus> {
  static constexpr std::array table{
      std::pair{RunStatus::running, std::string_view("running")},
      std::pair{RunStatus::paused, std::string_view("paused")},
      std::pair{RunStatus::completed, std::string_view("completed")},
      std::pair{RunStatus::failed, std::string_view("failed")},
  };
};

/// How a run stopped: blocked and needs_user_input suspend it, the others end it.
enum class RunOutcome { completed, blocked, needs_user_input, failed, limit_exceeded, cancelled };

template <>
struct EnumNames<RunOutcome> {
  static constexpr std::array table{
      std::pair{RunOutcome::completed, std::string_view("completed")},
      std::pair{RunOutcome::blocked, std::string_view("blocked")},
      std::pair{RunOutcome::needs_user_input, std::string_view("needs_user_input")},
      std::pair{RunOutcome::failed, std::string_view("failed")},
      std::pair{RunOutcome::limit_exceeded, std::string_view("limit_exceeded")},
      std::pair{RunOutcome::cancelled, std::string_view("cancelled")},
  };
};

/// Why a run stopped. Each reason belongs to one outcome (`outcome_of`).
enum class RunReason {
  final_response,
  external_dependency,
  environment_unavailable,
  policy_restriction,
  resource_unavailable,
  effect_unknown,  ///< its owner died in a call: nobody knows whether the effect happened
  approval_required,
  decision_required,
  information_required,
  model_error,
  model_refusal,
  model_output_truncated,
  content_filtered,
  invalid_model_response,
  tool_error,
  permission_denied,
  storage_error,
  accounting_error,
  recovery_rejected,
  tool_loop_detected,
  legacy_failure,
  model_turns,
  duration,
  total_tokens,
  token_usage_unavailable,
  tool_calls,
  tool_calls_per_turn,
  checkpoint_size,
  output_size,
  context_bytes,
  cancellation_requested,
  ancestor_cancelled,
  abandoned,
  legacy_completed,  ///< only in imported runs, like legacy_cancelled
  legacy_cancelled,
};

template <>
struct EnumNames<RunReason> {
  static constexpr std::array table{
      std::pair{RunReason::final_response, std::string_view("final_response")},
      std::pair{RunReason::external_dependency, std::string_view("external_dependency")},
      std::pair{RunReason::environment_unavailable, std::string_view("environment_unavailable")},
      std::pair{RunReason::policy_restriction, std::string_view("policy_restriction")},
      std::pair{RunReason::resource_unavailable, std::string_view("resource_unavailable")},
      std::pair{RunReason::effect_unknown, std::string_view("effect_unknown")},
      std::pair{RunReason::approval_required, std::string_view("approval_required")},
      std::pair{RunReason::decision_required, std::string_view("decision_required")},
      std::pair{RunReason::information_required, std::string_view("information_required")},
      std::pair{RunReason::model_error, std::string_view("model_error")},
      std::pair{RunReason::model_refusal, std::string_view("model_refusal")},
      std::pair{RunReason::model_output_truncated, std::string_view("model_output_truncated")},
      std::pair{RunReason::content_filtered, std::string_view("content_filtered")},
      std::pair{RunReason::invalid_model_response, std::string_view("invalid_model_response")},
      std::pair{RunReason::tool_error, std::string_view("tool_error")},
      std::pair{RunReason::permission_denied, std::string_view("permission_denied")},
      std::pair{RunReason::storage_error, std::string_view("storage_error")},
      std::pair{RunReason::accounting_error, std::string_view("accounting_error")},
      std::pair{RunReason::recovery_rejected, std::string_view("recovery_rejected")},
      std::pair{RunReason::tool_loop_detected, std::string_view("tool_loop_detected")},
      std::pair{RunReason::legacy_failure, std::string_view("legacy_failure")},
      std::pair{RunReason::model_turns, std::string_view("model_turns")},
      std::pair{RunReason::duration, std::string_view("duration")},
      std::pair{RunReason::total_tokens, std::string_view("total_tokens")},
      std::pair{RunReason::token_usage_unavailable, std::string_view("token_usage_unavailable")},
      std::pair{RunReason::tool_calls, std::string_view("tool_calls")},
      std::pair{RunReason::tool_calls_per_turn, std::string_view("tool_calls_per_turn")},
      std::pair{RunReason::checkpoint_size, std::string_view("checkpoint_size")},
      std::pair{RunReason::output_size, std::string_view("output_size")},
      std::pair{RunReason::context_bytes, std::string_view("context_bytes")},
      std::pair{RunReason::cancellation_requested, std::string_view("cancellation_requested")},
      std::pair{RunReason::ancestor_cancelled, std::string_view("ancestor_cancelled")},
      std::pair{RunReason::abandoned, std::string_view("abandoned")},
      std::pair{RunReason::legacy_completed, std::string_view("legacy_completed")},
      std::pair{RunReason::legacy_cancelled, std::string_view("legacy_cancelled")},
  };
};

/// The outcome that a reason belongs to.
constexpr RunOutcome outcome_of(RunReason reason) {
  if (reason == RunReason::final_response || reason == RunReason::legacy_completed) {
    return RunOutcome::completed;
  }
  if (reason <= RunReason::effect_unknown) return RunOutcome::blocked;
  if (reason <= RunReason::information_required) return RunOutcome::needs_user_input;
  if (reason <= RunReason::legacy_failure) return RunOutcome::failed;
  if (reason <= RunReason::context_bytes) return RunOutcome::limit_exceeded;
  return RunOutcome::cancelled;
}

constexpr RunLifecycle lifecycle_after(RunOutcome outcome) {
  return outcome == RunOutcome::blocked || outcome == RunOutcome::needs_user_input
             ? RunLifecycle::suspended
             : RunLifecycle::terminal;
}

/// Whether the token counts of a run cover all of its model responses.
enum class TokenAccounting { complete, partial, unavailable };

template <>
struct EnumNames<TokenAccounting> {
  static constexpr std::array table{
      std::pair{TokenAccounting::complete, std::string_view("complete")},
      std::pair{TokenAccounting::partial, std::string_view("partial")},
      std::pair{TokenAccounting::unavailable, std::string_view("unavailable")},
  };
};

/// What a program can do with a run that nobody works on.
enum class RecoveryDisposition {
  complete,
  resume_eligible,          ///< the newest checkpoint holds everything that happened
  suspended,                ///< it waits for an answer
  restart_required,         ///< nothing unsafe happened, but it cannot go on from a checkpoint
  reconciliation_required,  ///< effects happened that no checkpoint knows of
};

template <>
struct EnumNames<RecoveryDisposition> {
  static constexpr std::array table{
      std::pair{RecoveryDisposition::complete, std::string_view("complete")},
      std::pair{RecoveryDisposition::resume_eligible, std::string_view("resume_eligible")},
      std::pair{RecoveryDisposition::suspended, std::string_view("suspended")},
      std::pair{RecoveryDisposition::restart_required, std::string_view("restart_required")},
      std::pair{RecoveryDisposition::reconciliation_required,
                std::string_view("reconciliation_required")},
  };
};

/// Where a tool call stands.
enum class CallStatus {
  requested,      ///< nothing ran yet
  started,        ///< its effect may have happened
  indeterminate,  ///< started, and its owner died: an answer is needed
  completed,
  failed,
  denied,
};

template <>
struct EnumNames<CallStatus> {
  static constexpr std::array table{
      std::pair{CallStatus::requested, std::string_view("requested")},
      std::pair{CallStatus::started, std::string_view("started")},
      std::pair{CallStatus::indeterminate, std::string_view("indeterminate")},
      std::pair{CallStatus::completed, std::string_view("completed")},
      std::pair{CallStatus::failed, std::string_view("failed")},
      std::pair{CallStatus::denied, std::string_view("denied")},
  };
};

/// How a call ended.
enum class CallOutcomeClass {
  completed,
  denied,
  recoverable_error,
  terminal_error,
  uncertain_side_effect,
  cancelled,
  interrupted,  ///< only requested when its run stopped: nothing ran
};

template <>
struct EnumNames<CallOutcomeClass> {
  static constexpr std::array table{
      std::pair{CallOutcomeClass::completed, std::string_view("completed")},
      std::pair{CallOutcomeClass::denied, std::string_view("denied")},
      std::pair{CallOutcomeClass::recoverable_error, std::string_view("recoverable_error")},
      std::pair{CallOutcomeClass::terminal_error, std::string_view("terminal_error")},
      std::pair{CallOutcomeClass::uncertain_side_effect, std::string_view("uncertain_side_effect")},
      std::pair{CallOutcomeClass::cancelled, std::string_view("cancelled")},
      std::pair{CallOutcomeClass::interrupted, std::string_view("interrupted")},
  };
};

/// What a call asks permission for.
enum class Capability {
  read_only,
  agent_delegate,
  workspace_write,
  process_execute,
  network,
  external_side_effect,
};

template <>
struct EnumNames<Capability> {
  static constexpr std::array table{
      std::pair{Capability::read_only, std::string_view("read_only")},
      std::pair{Capability::agent_delegate, std::string_view("agent_delegate")},
      std::pair{Capability::workspace_write, std::string_view("workspace_write")},
      std::pair{Capability::process_execute, std::string_view("process_execute")},
      std::pair{Capability::network, std::string_view("network")},
      std::pair{Capability::external_side_effect, std::string_view("external_side_effect")},
  };
};

enum class ApprovalDecision { granted, denied };

template <>
struct EnumNames<ApprovalDecision> {
  static constexpr std::array table{
      std::pair{ApprovalDecision::granted, std::string_view("granted")},
      std::pair{ApprovalDecision::denied, std::string_view("denied")},
  };
};

/// Whether a working state can be relied on.
enum class WorkingStateStatus {
  current,
  stale,        ///< right, but of an earlier event
  unavailable,  ///< missing or damaged: rebuild it
  unsupported,  ///< of another version: rebuild it
};

template <>
struct EnumNames<WorkingStateStatus> {
  static constexpr std::array table{
      std::pair{WorkingStateStatus::current, std::string_view("current")},
      std::pair{WorkingStateStatus::stale, std::string_view("stale")},
      std::pair{WorkingStateStatus::unavailable, std::string_view("unavailable")},
      std::pair{WorkingStateStatus::unsupported, std::string_view("unsupported")},
  };
};

}  // namespace threadstore
