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

}  // namespace

db::Component runs_component() {
  return {"runs", {{1, [](db::Session& session) { session.script(kRunsSql); }}}};
}

}  // namespace threadstore::state
