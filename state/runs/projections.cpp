#include "state/runs/call_record.h"
#include "state/runs/replay.h"
#include "state/runs/run_usage.h"
#include "state/threads/snapshot_budget.h"

namespace threadstore::state {
namespace {

/// Reads a table in key order, as much at a time as a snapshot may. `sql` takes the run and the key
/// of the last row, `read` returns that key.
template <class Key, class Bind, class Read>
void read_table(const RunScope& scope, Key last, Bind&& bind, Read&& read) {
  for (bool more = true; more;) {
    more = false;
    scope.read([&](db::Session& session) {
      SnapshotBudget budget;
      bind(session, last, [&](const db::Row& row) {
        more = true;
        last = read(row);
        return budget.spend();
      });
    });
  }
}

Replay::Approval read_approval_row(const db::Row& row, int first) {
  return {.capabilities = row.text(first),
          .requested_sequence = row.integer(first + 1),
          .requested_at = row.integer(first + 2),
          .decision = from_word<ApprovalDecision>(row.view(first + 3)),
          .decided_sequence = row.get<std::optional<std::int64_t>>(first + 4),
          .decided_at = row.get<std::optional<UnixMillis>>(first + 5),
          .decided_by = row.get<std::optional<std::string>>(first + 6),
          .reason = row.get<std::optional<std::string>>(first + 7)};
}

void read_calls(const RunScope& scope, const RunId& run, Replay& tables) {
  read_table(
      scope, std::string(),
      [&](db::Session& session, const std::string& last, const auto& visit) {
        session.each(R"(SELECT call_id, requested_sequence, tool_name, status, outcome_class, error,
                               error_code, repetition_key, consecutive_count, started_at,
                               completed_at, finished_sequence
                        FROM run_calls WHERE run_id = ? AND call_id > ? ORDER BY call_id)",
                     {run, std::string(last)}, visit);
      },
      [&](const db::Row& row) {
        using Number = std::optional<std::int64_t>;
        using Text = std::optional<std::string>;
        tables.calls[row.text(0)] = {
            .requested_sequence = row.integer(1),
            .tool_name = row.text(2),
            .status = from_word<CallStatus>(row.view(3)).value_or(CallStatus::indeterminate),
            .outcome_class = from_word<CallOutcomeClass>(row.view(4)),
            .error = row.get<Text>(5),
            .error_code = row.get<Text>(6),
            .repetition_key = row.get<Text>(7),
            .consecutive_count = row.get<Number>(8),
            .started_at = row.get<Number>(9),
            .completed_at = row.get<Number>(10),
            .finished_sequence = row.get<Number>(11)};
        return row.text(0);
      });
}

void read_approvals(const RunScope& scope, const RunId& run, Replay& tables) {
  read_table(
      scope, std::int64_t{0},
      [&](db::Session& session, std::int64_t last, const auto& visit) {
        session.each(R"(SELECT requested_sequence, call_id, request_id, step, act, target,
                               capabilities, requested_sequence, requested_at, decision,
                               decided_sequence, decided_at, decided_by, reason
                        FROM run_approvals WHERE run_id = ? AND requested_sequence > ?
                        ORDER BY requested_sequence)",
                     {run, last}, visit);
      },
      [&](const db::Row& row) {
        Replay::Approval approval = read_approval_row(row, 6);
        if (!row.is_null(1)) {
          tables.approvals[row.text(1)] = std::move(approval);
        } else {
          approval.capabilities.clear();
          tables.requests[row.integer(2)] = {.step = row.integer(3),
                                             .act = row.text(4),
                                             .target = row.text(5),
                                             .approval = std::move(approval)};
        }
        return row.integer(0);
      });
}

void read_artifacts(const RunScope& scope, const RunId& run, Replay& tables) {
  read_table(
      scope, std::int64_t{0},
      [&](db::Session& session, std::int64_t last, const auto& visit) {
        session.each(R"(SELECT sequence, relative_path, sha256, size FROM run_artifacts
                        WHERE run_id = ? AND sequence > ? ORDER BY sequence)",
                     {run, last}, visit);
      },
      [&](const db::Row& row) {
        tables.artifacts[row.text(1)] = {row.integer(0), row.text(1), row.text(2), row.integer(3)};
        return row.integer(0);
      });
}

void read_steps(const RunScope& scope, const RunId& run, Replay& tables) {
  read_table(
      scope, Replay::Place{-1, 0},
      [&](db::Session& session, const Replay::Place& last, const auto& visit) {
        session.each(R"(SELECT step, attempt, tokens, created_at, committed_sequence
                        FROM run_steps WHERE run_id = ? AND (step, attempt) > (?, ?)
                        ORDER BY step, attempt)",
                     {run, last.first, last.second}, visit);
      },
      [&](const db::Row& row) {
        const Replay::Place place{row.integer(0), row.integer(1)};
        tables.steps[place] = {.tokens = row.integer(2),
                               .created_at = row.integer(3),
                               .committed_sequence = row.get<std::optional<std::int64_t>>(4)};
        return place;
      });
}

void read_spawns(const RunScope& scope, const RunId& run, Replay& tables) {
  read_table(
      scope, Replay::Place{-1, 0},
      [&](db::Session& session, const Replay::Place& last, const auto& visit) {
        session.each(R"(SELECT step, ordinal, child_run_id, goal FROM run_spawns
                        WHERE parent_run_id = ? AND (step, ordinal) > (?, ?)
                        ORDER BY step, ordinal)",
                     {run, last.first, last.second}, visit);
      },
      [&](const db::Row& row) {
        const Replay::Place place{row.integer(0), row.integer(1)};
        tables.spawns[place] = {.child = row.text(2), .goal = row.text(3)};
        return place;
      });
}

}  // namespace

Replay read_projections(const RunScope& scope, const RunHead& run) {
  Replay tables{.last_sequence = run.last_sequence,
                .lifecycle = run.lifecycle,
                .outcome = run.outcome,
                .reason_code = run.reason_code};
  scope.read([&](db::Session& session) {
    tables.own_usage = read_own_usage(session, run.id);
    session.each("SELECT outcome_text, provider FROM runs WHERE id = ?", {run.id},
                 [&](const db::Row& row) {
                   tables.outcome_text = row.get<std::optional<std::string>>(0);
                   tables.provider = row.get<std::optional<std::string>>(1);
                 });
  });
  read_calls(scope, run.id, tables);
  read_approvals(scope, run.id, tables);
  read_artifacts(scope, run.id, tables);
  read_steps(scope, run.id, tables);
  read_spawns(scope, run.id, tables);
  return tables;
}

}  // namespace threadstore::state
