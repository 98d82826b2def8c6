#include "state/doctor.h"

#include <functional>
#include <string>
#include <utility>

#include "base/files.h"
#include "state/index_outbox.h"
#include "threadstore/error.h"

namespace threadstore::state {
namespace {

std::int64_t size_of(const std::filesystem::path& file) {
  const auto status = base::file_status(file);
  return status ? status->size : 0;
}

}  // namespace

std::vector<Check> check_store(StoreContext& context) {
  using Run = std::function<Check(StoreContext&)>;
  const std::vector<std::pair<std::string, Run>> checks{
      {"file_modes", check_file_modes},
      {"sqlite_version", check_sqlite_version},
      {"wal_size", check_wal_size},
      {"integrity", check_integrity},
      {"foreign_keys", check_foreign_keys},
      {"parents", check_parents},
      {"leaves", check_leaves},
      {"messages", check_messages},
      {"records", check_records},
      {"removals", check_removals},
      {"leases", check_leases},
      {"index", check_index},
  };
  std::vector<Check> answers;
  for (const auto& [name, run] : checks) {
    Check answer;
    try {
      answer = run(context);
    } catch (const Error& error) {
      answer = {.status = CheckStatus::failed,
                .detail = std::string("the check could not be made: ") + error.what(),
                .advice = "keep a copy of the store before anything else writes to it"};
    }
    answer.name = name;
    answers.push_back(std::move(answer));
  }
  return answers;
}

StoreStats store_stats(StoreContext& context) {
  StoreStats stats;
  context.read([&](db::Session& session) {
    const auto count = [&](std::string_view sql) {
      return session.value<std::int64_t>(sql).value_or(0);
    };
    stats.threads = count(R"sql(
      SELECT count(*) FROM threads WHERE NOT EXISTS (
        SELECT 1 FROM thread_removals WHERE thread_id = threads.id AND kind = 'remove'))sql");
    stats.archived = count(R"sql(
      SELECT count(*) FROM threads WHERE archived = 1 AND NOT EXISTS (
        SELECT 1 FROM thread_removals WHERE thread_id = threads.id AND kind = 'remove'))sql");
    stats.forks = count(R"sql(
      SELECT count(*) FROM thread_forks WHERE NOT EXISTS (
        SELECT 1 FROM thread_removals
        WHERE thread_removals.thread_id = thread_forks.thread_id AND kind = 'remove'))sql");
    stats.messages = count("SELECT count(*) FROM messages");
    stats.checkpoints = count("SELECT count(*) FROM checkpoints");
    stats.jobs = count("SELECT count(*) FROM jobs");
    stats.goals = count("SELECT count(*) FROM thread_goals");
  });
  stats.database_bytes = size_of(context.file);
  stats.wal_bytes = size_of(context.file.string() + "-wal");
  if (context.index) {
    const SessionIndex::Stats index = context.index->stats();
    stats.index_bytes = index.bytes;
    stats.index_lines = index.lines;
    stats.index_backlog = index_backlog(context);
  }
  return stats;
}

}  // namespace threadstore::state
