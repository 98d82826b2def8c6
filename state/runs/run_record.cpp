#include "state/runs/run_record.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "state/leases/lease_file.h"
#include "state/runs/disposition.h"
#include "threadstore/error.h"

namespace threadstore::state {
namespace {

template <class Enum>
std::optional<Enum> read_word(const db::Row& row, int column) {
  return row.is_null(column) ? std::nullopt : from_word<Enum>(row.view(column));
}

/// Where the columns of `read_run` begin behind those of the head.
constexpr int kRunColumns = 30;
constexpr int kFactColumns = kRunColumns + 15;

const std::string kSelectHead = std::string("SELECT ") + head_columns +
                                " FROM runs AS r WHERE r.workspace_id = ?1 AND" + visible_run +
                                " AND r.id = ?2";

// The predicate of unsafe calls is that of the index run_calls_unsafe, word for word.
const std::string kFacts = R"sql(
  EXISTS (SELECT 1 FROM run_calls WHERE run_id = r.id AND (status IN ('started', 'indeterminate')
          OR outcome_class IN ('terminal_error', 'uncertain_side_effect', 'cancelled'))),
  (SELECT max(sequence) FROM run_checkpoints WHERE run_id = r.id),
  (SELECT finished_sequence FROM run_calls
   WHERE run_id = r.id AND finished_sequence IS NOT NULL AND status <> 'denied'
     AND outcome_class <> 'interrupted'
   ORDER BY finished_sequence DESC LIMIT 1),
  (SELECT max(sequence) FROM run_artifacts WHERE run_id = r.id),
  EXISTS (SELECT 1 FROM runs AS child WHERE child.parent_run_id = r.id),
  (SELECT slot FROM leases WHERE kind = 'run' AND id = r.id))sql";

}  // namespace

const std::string select_runs =
    std::string("SELECT ") + head_columns +
    ", r.trigger_message_id, r.reply_message_id, r.agent_name, r.agent_version, r.model,"
    " r.reason_detail, r.input, r.output, r.error, r.start_key, r.origin_id, r.provider, r.file,"
    " r.outcome_text, r.origin_source," +
    kFacts + " FROM runs AS r WHERE r.workspace_id = ?1 AND" + visible_run;

RunHead read_head(const db::Row& row) {
  return {
      .id = row.get<RunId>(0),
      .lifecycle = from_word<RunLifecycle>(row.view(1)).value_or(RunLifecycle::suspended),
      .outcome = read_word<RunOutcome>(row, 2),
      .reason_code = read_word<RunReason>(row, 3),
      .created_at = row.integer(4),
      .completed_at = row.get<std::optional<UnixMillis>>(5),
      .active_since = row.integer(6),
      .last_sequence = row.integer(7),
      .budgets = {.max_turns = row.get<std::optional<std::int64_t>>(8),
                  .timeout_seconds = row.get<std::optional<std::int64_t>>(9),
                  .max_total_tokens = row.get<std::optional<std::int64_t>>(10),
                  .max_tool_calls = row.get<std::optional<std::int64_t>>(11),
                  .max_context_bytes = row.get<std::optional<std::int64_t>>(12)},
      .budget_raised = row.get<bool>(13),
      .usage = {.model_turns = row.integer(14),
                .input_tokens = row.get<std::optional<std::int64_t>>(15),
                .output_tokens = row.get<std::optional<std::int64_t>>(16),
                .total_tokens = row.get<std::optional<std::int64_t>>(17),
                .responses_with_usage = row.integer(18),
                .responses_without_usage = row.integer(19),
                .tool_calls = row.integer(20)},
      .suspended_ms = row.integer(21),
      .artifact_count = row.integer(22),
      .thread_id = row.get<std::optional<ThreadId>>(23),
      // A run without a parent is its own root, whatever another program left in its row.
      .lineage = {.root_run_id = row.get<RunId>(row.is_null(25) ? 0 : 24),
                  .parent_run_id = row.get<std::optional<RunId>>(25),
                  .parent_call_id = row.get<std::optional<CallId>>(26),
                  .depth = row.integer(27)},
  };
}

Run read_run(const StoreContext& context, const db::Row& row) {
  const RunHead head = read_head(row);
  const UnixMillis now = context.now_millis();
  const std::int64_t elapsed =
      std::max<std::int64_t>(0, head.completed_at.value_or(now) - head.created_at);
  const RecoveryFacts facts{
      .unsafe_call = row.get<bool>(kFactColumns),
      .checkpoint = row.get<std::optional<std::int64_t>>(kFactColumns + 1),
      .effect = row.get<std::optional<std::int64_t>>(kFactColumns + 2),
      .artifact = row.get<std::optional<std::int64_t>>(kFactColumns + 3),
      .has_children = row.get<bool>(kFactColumns + 4),
  };
  const auto slot = row.get<std::optional<std::int64_t>>(kFactColumns + 5);
  return {
      .id = head.id,
      .workspace_id = row.text(28),
      .thread_id = head.thread_id,
      .trigger_message_id = row.get<std::optional<MessageId>>(kRunColumns),
      .reply_message_id = row.get<std::optional<MessageId>>(kRunColumns + 1),
      .agent_name = row.text(kRunColumns + 2),
      .agent_version = row.text(kRunColumns + 3),
      .model = row.text(kRunColumns + 4),
      .provider = row.get<std::optional<std::string>>(kRunColumns + 11),
      .lifecycle = head.lifecycle,
      .outcome = head.outcome,
      .reason_code = head.reason_code,
      .reason_detail = row.get<std::optional<std::string>>(kRunColumns + 5),
      .outcome_text = row.get<std::optional<std::string>>(kRunColumns + 13),
      .created_at = head.created_at,
      .updated_at = row.integer(29),
      .completed_at = head.completed_at,
      .input = row.text(kRunColumns + 6),
      .file = row.get<std::optional<std::string>>(kRunColumns + 12),
      .output = row.get<std::optional<std::string>>(kRunColumns + 7),
      .error = row.get<std::optional<std::string>>(kRunColumns + 8),
      .last_sequence = head.last_sequence,
      .budgets = head.budgets,
      .usage = head.usage,
      .suspended_ms = head.suspended_ms,
      .elapsed_ms = elapsed,
      .execution_elapsed_ms = std::max<std::int64_t>(0, elapsed - head.suspended_ms),
      .lineage = head.lineage,
      .recovery_disposition = classify(head, facts, now),
      .interrupted =
          head.lifecycle == RunLifecycle::active && slot && !context.leases->is_held(*slot),
      .key = row.get<std::optional<std::string>>(kRunColumns + 9),
      .origin_source = row.get<std::optional<std::string>>(kRunColumns + 14),
      .origin_id = row.get<std::optional<std::string>>(kRunColumns + 10),
  };
}

std::optional<RunHead> find_head(db::Session& session, const RunScope& scope, const RunId& run) {
  return session.one(kSelectHead, {scope.workspace, run}, read_head);
}

RunHead require_run(db::Session& session, const RunScope& scope, const RunId& run) {
  if (auto head = find_head(session, scope, run)) return *std::move(head);
  throw_no_run(scope, run);
}

RunHead require_active(db::Session& session, const RunScope& scope, const RunId& run,
                       const std::string& doing) {
  RunHead head = require_run(session, scope, run);
  if (head.lifecycle != RunLifecycle::active) throw_run_conflict(doing, run, describe_state(head));
  return head;
}

Run get_run(db::Session& session, const RunScope& scope, const RunId& run) {
  auto found = session.one(select_runs + " AND r.id = ?2", {scope.workspace, run},
                           [&](const db::Row& row) { return read_run(*scope.context, row); });
  if (!found) throw_no_run(scope, run);
  return *std::move(found);
}

void throw_no_run(const RunScope& scope, const RunId& run) {
  throw Error(ErrorCode::not_found,
              "there is no run " + run.str() + " in workspace " + scope.workspace,
              {{"run_id", run.str()}, {"workspace_id", scope.workspace}});
}

void throw_run_conflict(const std::string& doing, const RunId& run, const std::string& why) {
  throw Error(ErrorCode::conflict, "cannot " + doing + " run " + run.str() + ": " + why,
              {{"run_id", run.str()}});
}

std::string describe_state(const RunHead& head) {
  std::string text = "it is " + std::string(to_word(head.lifecycle));
  if (!head.outcome) return text;
  text += " (" + std::string(to_word(*head.outcome));
  if (head.reason_code) text += ", " + std::string(to_word(*head.reason_code));
  return text + ")";
}

}  // namespace threadstore::state
