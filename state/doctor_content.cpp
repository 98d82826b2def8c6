#include <string>
#include <vector>

#include "state/db/integrity.h"
#include "state/doctor.h"
#include "state/index_compare.h"
#include "state/index_outbox.h"
#include "state/leases/lease_file.h"
#include "threadstore/error.h"
#include "threadstore/leases.h"

namespace threadstore::state {
namespace {

constexpr std::int64_t shown = 20;  // rows that a detail names

/// The first column of the query's rows, joined: "17, 18, …"; empty when there is none.
std::string first_findings(StoreContext& context, std::string_view sql) {
  std::string found;
  std::int64_t rows = 0;
  context.read([&](db::Session& session) {
    session.each(sql, {}, [&](const db::Row& row) {
      if (++rows > shown) return false;
      found += (found.empty() ? "" : ", ") + row.text(0);
      return true;
    });
  });
  if (rows > shown) found += ", …";
  return found;
}

std::string name_ids(const std::vector<ThreadId>& ids) {
  std::string names;
  for (std::size_t i = 0; i < ids.size() && i < static_cast<std::size_t>(shown); ++i) {
    names += (names.empty() ? "" : ", ") + ids[i].str();
  }
  if (ids.size() > static_cast<std::size_t>(shown)) names += ", …";
  return names;
}

}  // namespace

Check check_integrity(StoreContext& context) {
  std::vector<std::string> damage;
  try {
    damage = context.read(
        [](db::Session& session) { return db::find_damage(session, static_cast<int>(shown)); });
  } catch (const Error& error) {
    if (error.code() != ErrorCode::damaged) throw;
    damage.emplace_back(error.what());  // damage that SQLite's check does not get past
  }
  if (damage.empty()) return {.detail = "SQLite finds the file whole"};
  std::string found;
  for (const std::string& finding : damage) found += (found.empty() ? "" : ", ") + finding;
  return {.status = CheckStatus::failed,
          .detail = found,
          .advice = "copy the store away and get what is readable with 'threadstore salvage'"};
}

Check check_foreign_keys(StoreContext& context) {
  const std::string found = first_findings(
      context, R"sql(SELECT "table" || ' row ' || rowid FROM pragma_foreign_key_check)sql");
  if (found.empty()) return {.detail = "every row belongs to something that exists"};
  return {.status = CheckStatus::failed,
          .detail = "rows whose thread or run does not exist: " + found,
          .advice =
              "another program wrote without foreign keys; 'threadstore salvage' makes a store "
              "where such messages have a thread"};
}

Check check_parents(StoreContext& context) {
  const std::string found = first_findings(context, R"sql(
    SELECT id FROM messages
    WHERE parent_entry_id IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM messages AS parent WHERE parent.id = messages.parent_entry_id)
    ORDER BY id)sql");
  if (found.empty()) return {.detail = "every message hangs under one that exists"};
  return {.status = CheckStatus::failed,
          .detail = "messages whose parent is gone: " + found,
          .advice =
              "another program deleted part of a conversation; read the rest with "
              "'threadstore show THREAD --leaf ID'"};
}

// A parent is stored before its child, so every cycle has a message whose parent is not older.
Check check_cycles(StoreContext& context) {
  const std::string found = first_findings(context, R"sql(
    WITH RECURSIVE up(start, id) AS (
      SELECT id, parent_entry_id FROM messages WHERE parent_entry_id >= id
      UNION
      SELECT up.start, messages.parent_entry_id FROM up
      JOIN messages ON messages.id = up.id
      WHERE messages.parent_entry_id IS NOT NULL)
    SELECT DISTINCT start FROM up WHERE id = start ORDER BY start)sql");
  if (found.empty()) return {.detail = "no message is its own ancestor"};
  return {.status = CheckStatus::failed,
          .detail = "messages that are their own ancestors: " + found,
          .advice = "another program linked them in a circle; restore a backup"};
}

Check check_leaves(StoreContext& context) {
  const std::string found = first_findings(context, R"sql(
    SELECT threads.id FROM threads
    LEFT JOIN messages ON messages.id = threads.current_leaf_id
    WHERE threads.current_leaf_id IS NOT NULL
      AND (messages.id IS NULL
           OR (messages.thread_id <> threads.id
               AND NOT EXISTS (SELECT 1 FROM thread_forks WHERE thread_id = threads.id)))
    ORDER BY threads.id)sql");
  if (found.empty()) return {.detail = "every thread's active branch ends at one of its messages"};
  return {.status = CheckStatus::failed,
          .detail = "threads whose current leaf is gone or of another thread: " + found,
          .advice =
              "'threadstore doctor --repair' takes the newest end; or choose one: 'threadstore "
              "leaves THREAD', then 'threadstore switch'"};
}

Check check_removals(StoreContext& context) {
  const std::string found =
      first_findings(context, "SELECT thread_id FROM thread_removals ORDER BY thread_id");
  if (found.empty()) return {.detail = "no removal is unfinished"};
  return {.status = CheckStatus::warning,
          .detail = "threads whose removal or clearing is not finished: " + found,
          .advice = "the next command that writes finishes it"};
}

Check check_leases(StoreContext& context) {
  std::string interrupted;
  context.read([&](db::Session& session) {
    session.each("SELECT kind || ' ' || id, slot FROM leases ORDER BY kind, id", {},
                 [&](const db::Row& row) {
                   if (context.leases->is_held(row.integer(1))) return;
                   interrupted += (interrupted.empty() ? "" : ", ") + row.text(0);
                 });
  });
  if (interrupted.empty()) return {.detail = "every lease has a living holder"};
  return {.status = CheckStatus::warning,
          .detail = "whoever worked on these died: " + interrupted,
          .advice = "nothing is lost; continue them, for example with 'threadstore chat THREAD'"};
}

Check check_index(StoreContext& context) {
  if (!context.index) return {.detail = "the store is in memory"};
  const IndexDifference difference = compare_index(context);
  const std::int64_t waiting = index_backlog(context);
  if (difference.ok()) return {.detail = "the session index says what the database says"};
  std::string detail;
  const auto tell = [&](const char* what, const std::vector<ThreadId>& ids) {
    if (ids.empty()) return;
    detail += (detail.empty() ? "" : "; ") + std::string(what) + ": " + name_ids(ids);
  };
  tell("threads that the session index lacks", difference.missing);
  tell("threads with another name or path there", difference.different);
  tell("threads there that do not exist", difference.extra);
  const bool behind = !difference.missing.empty() || !difference.different.empty();
  if (behind && waiting > 0)
    detail += "; lines that wait to be written: " + std::to_string(waiting);
  return {.status = behind && waiting == 0 ? CheckStatus::failed : CheckStatus::warning,
          .detail = detail,
          .advice = waiting > 0 ? "the next command that writes brings the index up to date"
                                : "'threadstore doctor --repair' mends the index"};
}

}  // namespace threadstore::state
