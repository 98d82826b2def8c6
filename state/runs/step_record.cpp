#include "state/runs/step_record.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "state/runs/event_log.h"
#include "state/runs/run_json.h"
#include "threadstore/error.h"

namespace threadstore::state {
namespace {

constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

/// The sum of the tree is the larger one: where it fits, the run's own does.
void add_to_tree(db::Session& session, const RunId& run, std::int64_t own, std::int64_t tokens) {
  const bool fits = session.run(R"(UPDATE runs SET step_tokens = step_tokens + ?1,
                                                   tree_step_tokens = tree_step_tokens + ?2
                                   WHERE id = ?3 AND tree_step_tokens <= ?4)",
                                {own, tokens, run, kHighest - tokens}) > 0;
  if (fits) return;
  throw Error(ErrorCode::conflict,
              "cannot add " + std::to_string(tokens) + " to the tokens of the steps of run " +
                  run.str() + ": the sum does not fit 63 bits; nothing was stored",
              {{"run_id", run.str()}, {"accounting_overflow", "step_tokens"}});
}

std::int64_t next_attempt(db::Session& session, const RunId& run, std::int64_t step) {
  return session
             .value<std::int64_t>(
                 "SELECT coalesce(max(attempt), 0) FROM run_steps WHERE run_id = ? AND step = ?",
                 {run, step})
             .value_or(0) +
         1;
}

}  // namespace

// What is remembered ends the walk in a damaged file's cycle.
void add_step_tokens(db::Session& session, const RunId& run, const std::optional<RunId>& parent,
                     std::int64_t own, std::int64_t tree) {
  if (tree == 0) return;
  add_to_tree(session, run, own, tree);
  std::set<std::string> seen{run.str()};
  auto above = parent;
  while (above && seen.insert(above->str()).second) {
    add_to_tree(session, *above, 0, tree);
    above =
        session.value<std::optional<RunId>>("SELECT parent_run_id FROM runs WHERE id = ?", {*above})
            .value_or(std::nullopt);
  }
}

void insert_step_row(db::Session& session, const RunStep& row) {
  session.run(R"(INSERT INTO run_steps(run_id, step, attempt, decision, result, prompt, tool_call,
                                       tokens, created_at, committed_sequence)
                 VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?))",
              {row.run_id, row.step, row.attempt, row.decision, row.result, row.prompt,
               row.tool_call, row.tokens, row.created_at, row.committed_sequence});
}

const std::string select_steps = R"sql(
  SELECT s.run_id, s.step, s.attempt, s.decision, s.result, s.prompt, s.tool_call, s.tokens,
         s.created_at, s.committed_sequence
  FROM run_steps AS s WHERE s.run_id = ?1)sql";

RunStep read_step(const db::Row& row) {
  return {
      .run_id = row.get<RunId>(0),
      .step = row.integer(1),
      .attempt = row.integer(2),
      .decision = row.text(3),
      .result = row.text(4),
      .prompt = row.text(5),
      .tool_call = row.text(6),
      .tokens = row.integer(7),
      .created_at = row.integer(8),
      .committed_sequence = row.get<std::optional<std::int64_t>>(9),
  };
}

std::int64_t last_step(db::Session& session, const RunId& run) {
  return session.value<std::int64_t>(last_step_sql, {run}).value_or(0);
}

std::int64_t last_committed_step(db::Session& session, const RunId& run) {
  return session.value<std::int64_t>(last_committed_sql, {run}).value_or(0);
}

ResumePoint resume_point(db::Session& session, const RunId& run) {
  const std::int64_t committed = last_committed_step(session, run);
  return {.committed = committed, .from_step = committed + 1};
}

void check_step(const NewStep& step, std::size_t most) {
  if (step.step < 1) {
    throw Error(ErrorCode::invalid_argument,
                "steps are numbered from 1; this one has " + std::to_string(step.step));
  }
  if (step.tokens < 0) {
    throw Error(ErrorCode::invalid_argument, "the tokens of a step must not be negative, and are " +
                                                 std::to_string(step.tokens));
  }
  check_text_size(step.decision, "the step's decision", most);
  check_text_size(step.result, "the step's result", most);
  check_text_size(step.prompt, "the step's prompt", most);
  check_text_size(step.tool_call, "the step's tool call", most);
}

RunStep insert_step(db::Session& session, const RunHead& run, const NewStep& step, bool committed,
                    UnixMillis now) {
  RunStep row{.run_id = run.id,
              .step = step.step,
              .attempt = next_attempt(session, run.id, step.step),
              .decision = step.decision,
              .result = step.result,
              .prompt = step.prompt,
              .tool_call = step.tool_call,
              .tokens = step.tokens,
              .created_at = now};
  add_step_tokens(session, run.id, run.lineage.parent_run_id, step.tokens, step.tokens);
  const std::int64_t sequence =
      append_event(session, run.id, committed ? "step.committed" : "step.recorded",
                   {{"step", row.step}, {"attempt", row.attempt}, {"tokens", row.tokens}}, now);
  if (committed) row.committed_sequence = sequence;
  insert_step_row(session, row);
  return row;
}

}  // namespace threadstore::state
