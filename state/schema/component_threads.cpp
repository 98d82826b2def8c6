#include "state/schema/components.h"

namespace threadstore::state {
namespace {

void create_side_tables(db::Session& session) {
  session.script(R"sql(
    -- Threads whose line in the session index is behind; written in the transaction of the change.
    CREATE TABLE IF NOT EXISTS index_outbox (
      seq INTEGER PRIMARY KEY AUTOINCREMENT,
      thread_id TEXT NOT NULL
    );

    -- Lineage. The source may be gone: no foreign key on it.
    CREATE TABLE IF NOT EXISTS thread_forks (
      thread_id TEXT PRIMARY KEY NOT NULL REFERENCES threads(id) ON DELETE CASCADE,
      source_thread_id TEXT NOT NULL,
      message_id INTEGER,
      created_at INTEGER NOT NULL
    );
    CREATE INDEX IF NOT EXISTS threadstore_forks_source ON thread_forks(source_thread_id);
    CREATE INDEX IF NOT EXISTS threadstore_forks_message ON thread_forks(message_id);

    -- Unfinished removals: kind 'remove' hides the thread, 'clear' its messages up to up_to_id.
    CREATE TABLE IF NOT EXISTS thread_removals (
      thread_id TEXT PRIMARY KEY NOT NULL REFERENCES threads(id) ON DELETE CASCADE,
      kind TEXT NOT NULL,
      up_to_id INTEGER NOT NULL
    );

    -- Idempotency keys. They outlive the message: a key whose message is gone answers conflict.
    CREATE TABLE IF NOT EXISTS message_keys (
      thread_id TEXT NOT NULL REFERENCES threads(id) ON DELETE CASCADE,
      key TEXT NOT NULL,
      message_id INTEGER NOT NULL,
      request_hash TEXT NOT NULL,
      message_count INTEGER NOT NULL DEFAULT 1,
      branched INTEGER NOT NULL DEFAULT 0,
      current_leaf_id INTEGER,
      PRIMARY KEY (thread_id, key)
    );
  )sql");
  if (!db::has_column(session, "messages", "checksum")) {
    session.script("ALTER TABLE messages ADD COLUMN checksum INTEGER");
  }
}

/// The list index serves order, ties, cursor and every filter of `Threads::list`. It is the only
/// addition that holds updated_at: each further one would cost every append 3 to 5 WAL frames.
/// NOCASE folds ASCII in every build of SQLite, so that any program keeps the name index right.
void create_thread_indexes(db::Session& session) {
  session.script(R"sql(
    CREATE INDEX IF NOT EXISTS threadstore_threads_list ON threads(
      archived, updated_at DESC, id DESC, cwd, source, status, model_provider, title);
    CREATE INDEX IF NOT EXISTS threadstore_threads_name ON threads(title COLLATE NOCASE)
      WHERE title IS NOT NULL;
  )sql");
}

/// For programs that delete a thread with plain SQL: what the paths of forks need moves to the
/// oldest fork that needs it, before the cascade takes the rest.
///
/// A message of the thread is needed when a fork starts at it, when a message of a fork hangs under
/// it, or when it is an ancestor of such a message. Forks of removed forks are found too, because
/// the search starts at the thread's own messages and not at its entry in thread_forks.
void create_fork_keeper(db::Session& session) {
  session.script(R"sql(
    CREATE TRIGGER IF NOT EXISTS threadstore_keep_forks BEFORE DELETE ON threads
    WHEN EXISTS (SELECT 1 FROM thread_forks)
    BEGIN
      UPDATE messages SET thread_id = kept.heir
      FROM (
        WITH RECURSIVE
        heirs(thread_id, message_id, age) AS (
          SELECT thread_id, message_id, row_number() OVER (ORDER BY created_at, thread_id)
          FROM thread_forks WHERE thread_id <> OLD.id),
        needed(id, age) AS (
          SELECT message_id, age FROM heirs WHERE message_id IS NOT NULL
          UNION
          SELECT parent.id, heirs.age
          FROM messages AS parent
          JOIN messages AS child ON child.parent_entry_id = parent.id
          JOIN heirs ON heirs.thread_id = child.thread_id
          WHERE parent.thread_id = OLD.id AND child.thread_id <> OLD.id
          UNION
          SELECT parent.id, needed.age
          FROM needed
          JOIN messages AS child ON child.id = needed.id
          JOIN messages AS parent ON parent.id = child.parent_entry_id
          WHERE child.thread_id = OLD.id AND parent.thread_id = OLD.id)
        SELECT oldest.id AS id, heirs.thread_id AS heir
        FROM (SELECT id, min(age) AS age FROM needed GROUP BY id) AS oldest
        JOIN heirs ON heirs.age = oldest.age
      ) AS kept
      WHERE messages.id = kept.id AND messages.thread_id = OLD.id;
    END;
  )sql");
}

/// 1: the thread may have been removed before under the same id, so its line takes back a
/// tombstone.
void add_revival(db::Session& session) {
  if (!db::has_column(session, "index_outbox", "revives")) {
    session.script("ALTER TABLE index_outbox ADD COLUMN revives INTEGER NOT NULL DEFAULT 0");
  }
}

}  // namespace

db::Component threads_component() {
  return {"threads",
          {{1,
            [](db::Session& session) {
              create_side_tables(session);
              create_thread_indexes(session);
              create_fork_keeper(session);
            }},
           {2, add_revival}}};
}

}  // namespace threadstore::state
