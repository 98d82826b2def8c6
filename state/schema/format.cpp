#include "state/schema/format.h"

namespace threadstore::state {
namespace {

void create_conversations(db::Session& session) {
  session.script(R"sql(
    CREATE TABLE IF NOT EXISTS threads (
      id TEXT PRIMARY KEY,
      rollout_path TEXT,
      preview TEXT NOT NULL,
      ephemeral INTEGER NOT NULL,
      model_provider TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      status TEXT NOT NULL,
      path TEXT,
      cwd TEXT NOT NULL,
      cli_version TEXT NOT NULL,
      source TEXT NOT NULL,
      title TEXT,
      sandbox_policy TEXT,
      approval_mode TEXT,
      archived INTEGER NOT NULL DEFAULT 0,
      archived_at INTEGER,
      git_sha TEXT,
      git_branch TEXT,
      git_origin_url TEXT,
      memory_mode TEXT
    );
    CREATE INDEX IF NOT EXISTS idx_threads_updated_at ON threads(updated_at DESC);
    CREATE INDEX IF NOT EXISTS idx_threads_archived_at ON threads(archived_at DESC);
    CREATE INDEX IF NOT EXISTS idx_threads_archived_updated ON threads(archived, updated_at DESC);

    CREATE TABLE IF NOT EXISTS thread_dynamic_tools (
      thread_id TEXT NOT NULL,
      position INTEGER NOT NULL,
      name TEXT NOT NULL,
      description TEXT,
      input_schema TEXT NOT NULL,
      PRIMARY KEY (thread_id, position),
      FOREIGN KEY (thread_id) REFERENCES threads(id) ON DELETE CASCADE
    );

    CREATE TABLE IF NOT EXISTS messages (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      thread_id TEXT NOT NULL,
      role TEXT NOT NULL,
      content TEXT NOT NULL,
      item_json TEXT,
      created_at INTEGER NOT NULL,
      FOREIGN KEY (thread_id) REFERENCES threads(id) ON DELETE CASCADE
    );
    CREATE INDEX IF NOT EXISTS idx_messages_thread_created_at ON messages(thread_id, created_at);

    CREATE TABLE IF NOT EXISTS checkpoints (
      thread_id TEXT NOT NULL,
      checkpoint_id TEXT NOT NULL,
      state_json TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      PRIMARY KEY (thread_id, checkpoint_id),
      FOREIGN KEY (thread_id) REFERENCES threads(id) ON DELETE CASCADE
    );
    CREATE INDEX IF NOT EXISTS idx_checkpoints_thread_created_at
      ON checkpoints(thread_id, created_at DESC);

    CREATE TABLE IF NOT EXISTS jobs (
      id TEXT PRIMARY KEY,
      name TEXT NOT NULL,
      status TEXT NOT NULL,
      progress INTEGER,
      detail TEXT,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL
    );
    CREATE INDEX IF NOT EXISTS idx_jobs_updated_at ON jobs(updated_at DESC);
  )sql");
}

/// Turns the flat history of a file without message trees into one chain per thread, oldest first.
/// A file that has the parent column keeps its tree, whatever its version says.
void grow_message_trees(db::Session& session) {
  const bool chained = !db::has_column(session, "messages", "parent_entry_id");
  if (chained) {
    session.script("ALTER TABLE messages ADD COLUMN parent_entry_id INTEGER");
    session.run(R"sql(
      UPDATE messages SET parent_entry_id = chain.previous
      FROM (SELECT id, lag(id) OVER (PARTITION BY thread_id ORDER BY created_at, id) AS previous
            FROM messages) AS chain
      WHERE chain.id = messages.id AND chain.previous IS NOT NULL)sql");
  }
  const bool leafless = !db::has_column(session, "threads", "current_leaf_id");
  if (leafless) session.script("ALTER TABLE threads ADD COLUMN current_leaf_id INTEGER");
  // The end of the chain in the chain's own order: the highest id would hide messages that were
  // stored after the clock had gone back.
  if (chained || leafless) {
    session.run(R"sql(
      UPDATE threads SET current_leaf_id = (
        SELECT id FROM messages WHERE thread_id = threads.id
        ORDER BY created_at DESC, id DESC LIMIT 1)
      WHERE current_leaf_id IS NULL)sql");
  }
  session.script(
      "CREATE INDEX IF NOT EXISTS idx_messages_parent_entry_id ON messages(parent_entry_id)");
}

void create_goals(db::Session& session) {
  session.script(R"sql(
    CREATE TABLE IF NOT EXISTS thread_goals (
      thread_id TEXT PRIMARY KEY NOT NULL,
      goal_id TEXT NOT NULL,
      objective TEXT NOT NULL,
      status TEXT NOT NULL CHECK (status IN
        ('active', 'paused', 'blocked', 'usage_limited', 'budget_limited', 'complete')),
      token_budget INTEGER,
      tokens_used INTEGER NOT NULL DEFAULT 0,
      time_used_seconds INTEGER NOT NULL DEFAULT 0,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      FOREIGN KEY (thread_id) REFERENCES threads(id) ON DELETE CASCADE
    );
  )sql");
}

void add_goal_column(db::Session& session, const std::string& column, const std::string& type) {
  if (db::has_column(session, "thread_goals", column)) return;
  session.script("ALTER TABLE thread_goals ADD COLUMN " + column + " " + type);
}

}  // namespace

std::vector<db::Step> format_steps() {
  return {
      {1,
       [](db::Session& session) {
         create_conversations(session);
         grow_message_trees(session);
       }},
      {2, create_workflow_trace},
      {3, create_goals},
      {4,
       [](db::Session& session) {
         add_goal_column(session, "continuation_count", "INTEGER NOT NULL DEFAULT 0");
       }},
      {5,
       [](db::Session& session) {
         add_goal_column(session, "last_gap_fingerprint", "TEXT");
         add_goal_column(session, "repeated_gap_count", "INTEGER NOT NULL DEFAULT 0");
         add_goal_column(session, "last_gap_pass", "INTEGER");
         add_goal_column(session, "pause_reason", "TEXT");
       }},
  };
}

}  // namespace threadstore::state
