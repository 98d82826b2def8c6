#pragma once

#include <optional>
#include <string>

#include "state/store_context.h"
#include "threadstore/threads.h"

namespace threadstore::state {

/// `SELECT … FROM threads … WHERE <the thread is not being removed>`: append " AND …" to it. The
/// only way in which a thread is read, so that a removed one is hidden everywhere.
extern const std::string select_threads;

/// Says of a row of `threads` that the thread is not being removed: for other SELECTs.
inline constexpr const char* thread_is_visible = R"sql(
  NOT EXISTS (SELECT 1 FROM thread_removals
              WHERE thread_removals.thread_id = threads.id AND thread_removals.kind = 'remove'))sql";

/// Reads a row of `select_threads`.
Thread read_thread(StoreContext& context, const db::Row& row);

std::optional<Thread> find_thread(StoreContext& context, db::Session& session, const ThreadId& id);
/// Throws `not_found`.
Thread get_thread(StoreContext& context, db::Session& session, const ThreadId& id);

/// Throws `not_found` unless the thread exists and is not being removed.
void require_thread(db::Session& session, const ThreadId& id);
[[noreturn]] void throw_no_thread(const ThreadId& id);

/// Inserts every stored column, `current_leaf_id` included. Throws `conflict` when the id is taken.
void insert_thread(db::Session& session, const Thread& thread);
/// Inserts the row or replaces every column but `current_leaf_id`.
void upsert_thread(db::Session& session, const Thread& thread);

/// Writes the columns that the patch sets, one by one. Throws `invalid_argument` as below.
void apply_patch(db::Session& session, const ThreadId& id, const ThreadPatch& patch);

/// Throws `invalid_argument` for an empty id and for text that is not valid UTF-8: other readers of
/// the file would fail on it.
void check_thread(const Thread& thread);
void check_text(const std::string& text, const char* field);

}  // namespace threadstore::state
