#pragma once

#include <optional>
#include <string>

#include "state/runs/run_scope.h"
#include "threadstore/run_record.h"

namespace threadstore::state {

/// What operations on a run need to know, without its texts, which may be large: cheap to read for
/// every event.
struct RunHead {
  RunId id{};
  RunLifecycle lifecycle = RunLifecycle::active;
  std::optional<RunOutcome> outcome{};
  std::optional<RunReason> reason_code{};
  UnixMillis created_at = 0;
  std::optional<UnixMillis> completed_at{};
  UnixMillis active_since = 0;  ///< of the stretch of work that goes on
  std::int64_t last_sequence = 0;
  RunBudgets budgets{};
  bool budget_raised = false;  ///< since it last stopped
  RunUsage usage{};
  std::int64_t suspended_ms = 0;
  std::int64_t artifact_count = 0;
  std::optional<ThreadId> thread_id{};
  RunLineage lineage{};
};

/// The columns that `read_head` reads, in its order, of the table `runs`; `read_run` needs
/// more (`select_runs`).
inline constexpr const char* head_columns =
    "id, lifecycle, outcome, reason_code, created_at, completed_at, active_since, "
    "last_sequence, max_turns, timeout_seconds, max_total_tokens, max_tool_calls, "
    "max_context_bytes, budget_raised, model_turns, input_tokens, output_tokens, "
    "total_tokens, responses_with_usage, responses_without_usage, tool_calls, "
    "suspended_ms, artifact_count, thread_id, root_run_id, parent_run_id, "
    "parent_call_id, depth, workspace_id, updated_at";
RunHead read_head(const db::Row& row);

/// True for a run `r` that is there: those of a thread that is being removed are gone.
inline constexpr const char* visible_run = R"sql(
  NOT EXISTS (SELECT 1 FROM thread_removals AS t
              WHERE t.thread_id = r.thread_id AND t.kind = 'remove'))sql";

/// `SELECT … FROM runs AS r WHERE r.workspace_id = ?1 AND <visible>`: append " AND …".
/// Whatever classifies a run comes with the same statement.
extern const std::string select_runs;
Run read_run(const StoreContext& context, const db::Row& row);

std::optional<RunHead> find_head(db::Session& session, const RunScope& scope, const RunId& run);
/// Throws `not_found`.
RunHead require_run(db::Session& session, const RunScope& scope, const RunId& run);
/// Throws `not_found`, or `conflict` completing "cannot <doing> run <id>: ".
RunHead require_active(db::Session& session, const RunScope& scope, const RunId& run,
                       const std::string& doing);

/// The whole record. Throws `not_found`.
Run get_run(db::Session& session, const RunScope& scope, const RunId& run);

[[noreturn]] void throw_no_run(const RunScope& scope, const RunId& run);
/// "cannot <doing> run <id>: <why>".
[[noreturn]] void throw_run_conflict(const std::string& doing, const RunId& run,
                                     const std::string& why);
/// "it is suspended (needs_user_input, approval_required)".
std::string describe_state(const RunHead& head);

}  // namespace threadstore::state
