#include <limits>
#include <string>
#include <vector>

#include "base/files.h"
#include "state/db/page_copy.h"
#include "state/db/private_copy.h"
#include "state/db/rescue/row_rescue.h"
#include "state/maintenance/copy_file.h"
#include "state/schema/schema.h"
#include "threadstore/error.h"
#include "threadstore/maintenance.h"

namespace threadstore {
namespace fs = std::filesystem;
namespace {

/// In an order in which rows stand behind what they belong to. Leases are not copied: whoever held
/// one does not hold it in the new store; nor is what waits for the session index, which is made
/// anew.
const std::vector<std::string>& salvaged_tables() {
  static const std::vector<std::string> tables{"threads",
                                               "messages",
                                               "thread_forks",
                                               "thread_removals",
                                               "message_keys",
                                               "thread_dynamic_tools",
                                               "checkpoints",
                                               "thread_goals",
                                               "jobs",
                                               "job_claims",
                                               "workflow_runs",
                                               "branch_runs",
                                               "leaf_runs",
                                               "control_node_runs",
                                               "teacher_candidates",
                                               "runs",
                                               "run_events",
                                               "run_calls",
                                               "run_approvals",
                                               "run_checkpoints",
                                               "run_suspensions",
                                               "run_artifacts",
                                               "run_working_state",
                                               "run_steps",
                                               "run_spawns"};
  return tables;
}

std::string describe(const db::LostRows& lost) {
  const auto [first, last] = lost.rows;
  std::string rows = "rows " + std::to_string(first);
  if (first == last) {
    rows = "row " + std::to_string(first);
  } else if (last == std::numeric_limits<std::int64_t>::max()) {
    rows += " and on, if there were any";
  } else {
    rows += " to " + std::to_string(last);
  }
  return rows + ": " + lost.why;
}

/// What a thread must have to be seen; its record is lost, and with it its name and directory.
std::vector<ThreadId> make_placeholders(db::Session& session) {
  return session.all(R"sql(
    INSERT INTO threads (id, preview, ephemeral, model_provider, created_at, updated_at, status,
                         cwd, cli_version, source, title, current_leaf_id)
    SELECT lost.id, '', 0, '', coalesce(min(messages.created_at), 0),
           coalesce(max(messages.created_at), 0), 'idle', '', '', 'unknown', 'salvaged ' || lost.id,
           coalesce(
             (SELECT max(m.id) FROM messages AS m WHERE m.thread_id = lost.id AND NOT EXISTS (
                SELECT 1 FROM messages AS child WHERE child.parent_entry_id = m.id)),
             (SELECT message_id FROM thread_forks WHERE thread_id = lost.id))
    FROM (SELECT thread_id AS id FROM messages
          UNION SELECT thread_id FROM thread_forks
          UNION SELECT thread_id FROM thread_removals
          UNION SELECT thread_id FROM message_keys
          UNION SELECT thread_id FROM thread_dynamic_tools
          UNION SELECT thread_id FROM checkpoints
          UNION SELECT thread_id FROM thread_goals
          UNION SELECT thread_id FROM runs) AS lost
    LEFT JOIN messages ON messages.thread_id = lost.id
    WHERE lost.id IS NOT NULL AND lost.id NOT IN (SELECT id FROM threads)
    GROUP BY lost.id
    RETURNING id)sql",
                     {}, [](const db::Row& row) { return row.get<ThreadId>(0); });
}

/// A fork of which only that record is lost: where it began is where its messages leave it, or, as
/// long as it has none of its own, its leaf.
void find_forks_again(db::Session& session) {
  session.run(R"sql(
    INSERT INTO thread_forks (thread_id, source_thread_id, message_id, created_at)
    SELECT threads.id, start.thread_id, start.id, threads.created_at
    FROM threads
    JOIN messages AS start ON start.id = coalesce(
      (SELECT parent.id FROM messages AS own
       JOIN messages AS parent ON parent.id = own.parent_entry_id
       WHERE own.thread_id = threads.id AND parent.thread_id <> threads.id
       ORDER BY own.id LIMIT 1),
      threads.current_leaf_id)
    WHERE start.thread_id <> threads.id
      AND threads.id NOT IN (SELECT thread_id FROM thread_forks))sql");
}

/// A thread whose leaf is lost goes on from its newest message that is one; a message whose parent
/// is lost begins a branch of its own.
void close_gaps(db::Session& session) {
  session.run(R"sql(
    UPDATE messages SET parent_entry_id = NULL
    WHERE parent_entry_id IS NOT NULL
      AND parent_entry_id NOT IN (SELECT id FROM messages))sql");
  session.run(R"sql(
    UPDATE threads SET current_leaf_id = (
      SELECT max(m.id) FROM messages AS m WHERE m.thread_id = threads.id AND NOT EXISTS (
        SELECT 1 FROM messages AS child WHERE child.parent_entry_id = m.id))
    WHERE current_leaf_id IS NOT NULL
      AND current_leaf_id NOT IN (SELECT id FROM messages))sql");
}

/// What a row names and may be without, if that is lost (the branch of a leaf's run), is not named.
void forget_lost_links(db::Session& session, const std::string& table) {
  const auto links = session.all(
      R"sql(SELECT "from", "table", coalesce("to", 'id') FROM pragma_foreign_key_list(?)
            WHERE on_delete = 'SET NULL')sql",
      {table}, [&](const db::Row& row) {
        const std::string column = row.text(0);
        return "UPDATE " + table + " SET " + column + " = NULL WHERE " + column +
               " IS NOT NULL AND " + column + " NOT IN (SELECT " + row.text(2) + " FROM " +
               row.text(1) + ")";
      });
  for (const std::string& update : links) session.run(update);
}

/// Rows that still belong to nothing (a run's branch whose run is lost) cannot stay.
void remove_orphans(db::Session& session, std::vector<SalvagedTable>& tables) {
  for (bool more = true; more;) {
    more = false;
    for (SalvagedTable& table : tables) {
      forget_lost_links(session, table.name);
      const auto rows = session.all(
          "SELECT rowid, parent FROM pragma_foreign_key_check(?) WHERE rowid IS NOT NULL",
          {table.name}, [](const db::Row& row) { return std::pair(row.integer(0), row.text(1)); });
      for (const auto& [number, parent] : rows) {
        if (session.run("DELETE FROM " + table.name + " WHERE rowid = ?", {number}) == 0) continue;
        more = true;
        --table.rows;
        table.lost.push_back("row " + std::to_string(number) + ": it belongs to a row of " +
                             parent + " that is lost");
      }
    }
  }
}

Salvage rescue_rows(const fs::path& from, const fs::path& to, const Progress& progress) {
  Salvage done;
  db::RowRescue rescue(to, from);
  const auto rescued = rescue.copy(salvaged_tables(), progress);
  for (std::size_t i = 0; i < rescued.size(); ++i) {
    done.tables.push_back({.name = salvaged_tables()[i], .rows = rescued[i].rows, .lost = {}});
    for (const db::LostRows& lost : rescued[i].lost) {
      done.tables.back().lost.push_back(describe(lost));
    }
  }
  done.placeholders = make_placeholders(rescue.session());
  find_forks_again(rescue.session());
  close_gaps(rescue.session());
  remove_orphans(rescue.session(), done.tables);
  return done;
}

}  // namespace

bool Salvage::complete() const {
  for (const SalvagedTable& table : tables) {
    if (!table.lost.empty()) return false;
  }
  return true;
}

Salvage salvage(const fs::path& source, const fs::path& destination, const Progress& progress) {
  if (!fs::is_regular_file(source)) {
    throw Error(ErrorCode::not_found, "there is no database at " + source.string());
  }
  const fs::path target = fs::absolute(destination);
  if (fs::exists(fs::symlink_status(target))) state::throw_exists(target);
  const db::PrivateCopy copy(source);
  const state::UnpublishedFile work(target);
  state::UnpublishedFile result(target);
  db::migrate(*db::Database::open(work.path(), {}), state::state_schema(), {});
  Salvage done = rescue_rows(copy.file(), work.path(), progress);
  db::Database::open(work.path(), {})->read([&](db::Session& session) {
    db::copy_pages(session, result.path(), {});
  });
  result.sync();
  result.publish(/*overwrite=*/false);
  return done;
}

}  // namespace threadstore
