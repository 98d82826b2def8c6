#include <string>

#include "state/schema/components.h"

namespace threadstore::state {
namespace {

// Agent runs (docs/runs.md). `run_events` is the log; every other table can be made again from it,
// but for contents, which are stored once: arguments, results and approvals' texts in their rows,
// checkpoints in theirs, a run's output in `runs`.
//
// Invariants
// 1. `runs.last_sequence` is the highest sequence of the run's events, which have no gap from 1.
// 2. lifecycle and outcome fit: active without one; suspended with blocked or needs_user_input.
// 3. root and depth 0 exactly when there is no parent.
constexpr const char* kRunsSql = R"sql(
  CREATE TABLE IF NOT EXISTS runs (
    id TEXT PRIMARY KEY NOT NULL,
    workspace_id TEXT NOT NULL,
    thread_id TEXT REFERENCES threads(id) ON DELETE CASCADE,
    trigger_message_id INTEGER,
    reply_message_id INTEGER,
    agent_name TEXT NOT NULL,
    agent_version TEXT NOT NULL,
    model TEXT NOT NULL,
    lifecycle TEXT NOT NULL CHECK (lifecycle IN ('active', 'suspended', 'terminal')),
    outcome TEXT CHECK (outcome IN ('completed', 'blocked', 'needs_user_input', 'failed',
                                    'limit_exceeded', 'cancelled')),
    reason_code TEXT,
    reason_detail TEXT,
    outcome_text TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    completed_at INTEGER,
    active_since INTEGER NOT NULL,
    input TEXT NOT NULL,
    output TEXT,
    error TEXT,
    last_sequence INTEGER NOT NULL DEFAULT 0 CHECK (last_sequence >= 0),
    max_turns INTEGER,
    timeout_seconds INTEGER,
    max_total_tokens INTEGER,
    max_tool_calls INTEGER,
    max_context_bytes INTEGER,
    budget_raised INTEGER NOT NULL DEFAULT 0,
    model_turns INTEGER NOT NULL DEFAULT 0,
    input_tokens INTEGER,
    output_tokens INTEGER,
    total_tokens INTEGER,
    responses_with_usage INTEGER NOT NULL DEFAULT 0,
    responses_without_usage INTEGER NOT NULL DEFAULT 0,
    tool_calls INTEGER NOT NULL DEFAULT 0,
    suspended_ms INTEGER NOT NULL DEFAULT 0,
    artifact_count INTEGER NOT NULL DEFAULT 0,
    root_run_id TEXT NOT NULL,
    parent_run_id TEXT REFERENCES runs(id) ON DELETE CASCADE,
    parent_call_id TEXT,
    depth INTEGER NOT NULL DEFAULT 0,
    start_key TEXT,
    origin_id TEXT,
    CHECK ((lifecycle = 'active') = (outcome IS NULL)),
    CHECK ((depth = 0) = (parent_run_id IS NULL)),
    UNIQUE (workspace_id, start_key),
    UNIQUE (parent_run_id, parent_call_id)
  );
  CREATE INDEX IF NOT EXISTS runs_newest ON runs(workspace_id, created_at DESC, id);
  CREATE INDEX IF NOT EXISTS runs_thread ON runs(thread_id, trigger_message_id)
    WHERE thread_id IS NOT NULL;
  CREATE INDEX IF NOT EXISTS runs_active ON runs(workspace_id, created_at DESC, id)
    WHERE lifecycle = 'active';
  CREATE INDEX IF NOT EXISTS runs_root ON runs(root_run_id);

  CREATE TABLE IF NOT EXISTS run_events (
    gid INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
    sequence INTEGER NOT NULL CHECK (sequence > 0),
    timestamp INTEGER NOT NULL,
    event_type TEXT NOT NULL,
    payload TEXT NOT NULL,
    UNIQUE (run_id, sequence)
  );
  CREATE INDEX IF NOT EXISTS run_events_type ON run_events(run_id, event_type, sequence);

  CREATE TABLE IF NOT EXISTS run_calls (
    run_id TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
    call_id TEXT NOT NULL,
    requested_sequence INTEGER NOT NULL,
    tool_name TEXT NOT NULL,
    arguments TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('requested', 'started', 'indeterminate', 'completed',
                                           'failed', 'denied')),
    outcome_class TEXT,
    result TEXT,
    result_content TEXT,
    error TEXT,
    error_code TEXT,
    repetition_key TEXT,
    consecutive_count INTEGER,
    started_at INTEGER,
    completed_at INTEGER,
    finished_sequence INTEGER,
    PRIMARY KEY (run_id, call_id)
  );
  CREATE UNIQUE INDEX IF NOT EXISTS run_calls_order ON run_calls(run_id, requested_sequence);
  CREATE INDEX IF NOT EXISTS run_calls_finished ON run_calls(run_id, finished_sequence)
    WHERE finished_sequence IS NOT NULL;
  CREATE INDEX IF NOT EXISTS run_calls_open ON run_calls(run_id, requested_sequence)
    WHERE status IN ('requested', 'started', 'indeterminate');
  CREATE INDEX IF NOT EXISTS run_calls_unsafe ON run_calls(run_id)
    WHERE status IN ('started', 'indeterminate')
       OR outcome_class IN ('terminal_error', 'uncertain_side_effect', 'cancelled');

  CREATE TABLE IF NOT EXISTS run_approvals (
    request_id INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
    call_id TEXT,
    capabilities TEXT NOT NULL DEFAULT '[]',
    requested_sequence INTEGER NOT NULL,
    requested_at INTEGER NOT NULL,
    decision TEXT CHECK (decision IN ('granted', 'denied')),
    decided_sequence INTEGER,
    decided_at INTEGER,
    decided_by TEXT,
    reason TEXT,
    UNIQUE (run_id, call_id)
  );
  CREATE INDEX IF NOT EXISTS run_approvals_order ON run_approvals(run_id, requested_sequence);
  CREATE INDEX IF NOT EXISTS run_approvals_pending ON run_approvals(requested_at, request_id)
    WHERE decision IS NULL;

  CREATE TABLE IF NOT EXISTS run_checkpoints (
    run_id TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
    sequence INTEGER NOT NULL,
    schema_version INTEGER NOT NULL CHECK (schema_version > 0),
    turn INTEGER NOT NULL CHECK (turn >= 0),
    name TEXT,
    created_at INTEGER NOT NULL,
    state TEXT NOT NULL,
    PRIMARY KEY (run_id, sequence)
  );
  CREATE INDEX IF NOT EXISTS run_checkpoints_unnamed ON run_checkpoints(run_id, sequence)
    WHERE name IS NULL;

  CREATE TABLE IF NOT EXISTS run_suspensions (
    run_id TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
    suspension_sequence INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    reason_code TEXT NOT NULL,
    prompt TEXT NOT NULL,
    assistant_message TEXT,
    suspended_at INTEGER NOT NULL,
    continuation_input TEXT,
    continued_at INTEGER,
    PRIMARY KEY (run_id, suspension_sequence)
  );

  CREATE TABLE IF NOT EXISTS run_artifacts (
    run_id TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
    relative_path TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    size INTEGER NOT NULL,
    PRIMARY KEY (run_id, relative_path)
  );
  CREATE UNIQUE INDEX IF NOT EXISTS run_artifacts_order ON run_artifacts(run_id, sequence);

  CREATE TABLE IF NOT EXISTS run_working_state (
    run_id TEXT PRIMARY KEY NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
    projection_version INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    event_cursor INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    head TEXT NOT NULL,
    artifacts TEXT NOT NULL
  );
)sql";

// The step trace (version 2). A run's attempts at its steps, with their texts, are rows of
// `run_steps`; `run_spawns` holds what a child run was spawned for. Deferred approvals are rows of
// `run_approvals` without a call. The audit lists are events only.
//
// Invariants
// 4. Every row of `run_steps` has an event, `step.recorded` or `step.committed` (then
//    `committed_sequence` is its sequence), with the same step, attempt and tokens. Attempts of a
//    step count from 1; at most one is committed.
// 5. `runs.step_tokens` is the sum of the run's `run_steps.tokens`; `tree_step_tokens` adds those
//    of all runs below, of which some may have been removed since.
// 6. `runs.below_…` is the part of the usage of the same name that runs below were charged with.
constexpr const char* kStepsSql = R"sql(
  CREATE TABLE IF NOT EXISTS run_steps (
    run_id TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
    step INTEGER NOT NULL CHECK (step >= 0),
    attempt INTEGER NOT NULL CHECK (attempt > 0),
    decision TEXT NOT NULL,
    result TEXT NOT NULL,
    prompt TEXT NOT NULL DEFAULT '',
    tool_call TEXT NOT NULL DEFAULT '',
    tokens INTEGER NOT NULL DEFAULT 0 CHECK (tokens >= 0),
    created_at INTEGER NOT NULL,
    committed_sequence INTEGER,
    PRIMARY KEY (run_id, step, attempt)
  );
  CREATE UNIQUE INDEX IF NOT EXISTS run_steps_committed ON run_steps(run_id, step)
    WHERE committed_sequence IS NOT NULL;

  CREATE TABLE IF NOT EXISTS run_spawns (
    parent_run_id TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
    step INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    child_run_id TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
    goal TEXT NOT NULL,
    verify_file TEXT NOT NULL,
    needle TEXT NOT NULL,
    max_steps INTEGER,
    deny_write TEXT NOT NULL DEFAULT '[]',
    created_at INTEGER NOT NULL,
    PRIMARY KEY (parent_run_id, step, ordinal)
  );
  CREATE INDEX IF NOT EXISTS run_spawns_child ON run_spawns(child_run_id);

  CREATE INDEX IF NOT EXISTS runs_parent ON runs(parent_run_id, created_at, id)
    WHERE parent_run_id IS NOT NULL;
  CREATE UNIQUE INDEX IF NOT EXISTS runs_origin ON runs(workspace_id, origin_source, origin_id)
    WHERE origin_id IS NOT NULL;
  CREATE UNIQUE INDEX IF NOT EXISTS run_approvals_key ON run_approvals(run_id, request_key)
    WHERE request_key IS NOT NULL;
  CREATE INDEX IF NOT EXISTS run_approvals_undecided ON run_approvals(run_id, request_id)
    WHERE decision IS NULL;
)sql";

struct Column {
  const char* table;
  const char* name;
  const char* type;
};

// `origin_source` names the file that a run was imported from, `origin_id` its id there.
constexpr Column kStepColumns[]{
    {"runs", "provider", "TEXT"},
    {"runs", "file", "TEXT"},
    {"runs", "origin_source", "TEXT"},
    {"runs", "step_tokens", "INTEGER NOT NULL DEFAULT 0"},
    {"runs", "tree_step_tokens", "INTEGER NOT NULL DEFAULT 0"},
    {"runs", "below_model_turns", "INTEGER NOT NULL DEFAULT 0"},
    {"runs", "below_input_tokens", "INTEGER NOT NULL DEFAULT 0"},
    {"runs", "below_output_tokens", "INTEGER NOT NULL DEFAULT 0"},
    {"runs", "below_total_tokens", "INTEGER NOT NULL DEFAULT 0"},
    {"runs", "below_responses_with_usage", "INTEGER NOT NULL DEFAULT 0"},
    {"runs", "below_responses_without_usage", "INTEGER NOT NULL DEFAULT 0"},
    {"runs", "below_tool_calls", "INTEGER NOT NULL DEFAULT 0"},
    {"run_approvals", "step", "INTEGER"},
    {"run_approvals", "act", "TEXT"},
    {"run_approvals", "target", "TEXT"},
    {"run_approvals", "content", "TEXT"},
    {"run_approvals", "request_key", "TEXT"},
    {"run_approvals", "origin_id", "TEXT"},
};

/// What runs below were charged with before that was kept apart: what their parents have of it.
constexpr const char* kChargedBelowSql = R"sql(
  UPDATE runs SET
    below_model_turns = below.model_turns,
    below_input_tokens = below.input_tokens,
    below_output_tokens = below.output_tokens,
    below_total_tokens = below.total_tokens,
    below_responses_with_usage = below.with_usage,
    below_responses_without_usage = below.without_usage,
    below_tool_calls = below.tool_calls
  FROM (SELECT parent_run_id AS run, sum(model_turns) AS model_turns,
               coalesce(sum(input_tokens), 0) AS input_tokens,
               coalesce(sum(output_tokens), 0) AS output_tokens,
               coalesce(sum(total_tokens), 0) AS total_tokens,
               sum(responses_with_usage) AS with_usage,
               sum(responses_without_usage) AS without_usage,
               sum(tool_calls) AS tool_calls
        FROM runs WHERE parent_run_id IS NOT NULL GROUP BY parent_run_id) AS below
  WHERE runs.id = below.run
)sql";

void add_steps(db::Session& session) {
  for (const Column& column : kStepColumns) {
    if (db::has_column(session, column.table, column.name)) continue;
    session.script(std::string("ALTER TABLE ") + column.table + " ADD COLUMN " + column.name + ' ' +
                   column.type);
  }
  session.script(kStepsSql);
  session.script(kChargedBelowSql);
}

}  // namespace

db::Component runs_component() {
  return {"runs", {{1, [](db::Session& session) { session.script(kRunsSql); }}, {2, add_steps}}};
}

}  // namespace threadstore::state
