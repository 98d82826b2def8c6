#include "state/doctor.h"

#include <functional>
#include <string>
#include <utility>

#include "base/files.h"
#include "state/index_outbox.h"
#include "state/schema/schema.h"
#include "state/search/search_index.h"
#include "threadstore/error.h"

namespace threadstore::state {
namespace {

std::int64_t size_of(const std::filesystem::path& file) {
  const auto status = base::file_status(file);
  return status ? status->size : 0;
}

using NamedCheck = std::pair<std::string, std::function<Check(StoreContext&)>>;

bool passes_on(const Error& error, WhenRefused when_refused) {
  return when_refused == WhenRefused::throw_error &&
         (error.code() == ErrorCode::io || error.code() == ErrorCode::busy);
}

std::vector<Check> run(const std::vector<NamedCheck>& checks, StoreContext& context,
                       WhenRefused when_refused = WhenRefused::fail_the_check) {
  std::vector<Check> answers;
  for (const auto& [name, run_check] : checks) {
    Check answer;
    try {
      answer = run_check(context);
    } catch (const Error& error) {
      if (passes_on(error, when_refused)) throw;
      answer = {.status = CheckStatus::failed,
                .detail = std::string("the check could not be made: ") + error.what(),
                .advice = "keep a copy of the store before anything else writes to it"};
    }
    answer.name = name;
    answers.push_back(std::move(answer));
  }
  return answers;
}

/// False for a store of an older schema. Where nobody can tell, the checks say why.
bool may_be_current(StoreContext& context, WhenRefused when_refused) {
  try {
    return context.read([&](db::Session& session) {
      return db::is_current(session, state_schema(), context.file.string());
    });
  } catch (const Error& error) {
    if (passes_on(error, when_refused)) throw;
    return true;
  }
}

}  // namespace

std::vector<Check> check_content(StoreContext& context, WhenRefused when_refused) {
  std::vector<NamedCheck> checks{{"integrity", check_integrity},
                                 {"foreign_keys", check_foreign_keys}};
  if (may_be_current(context, when_refused)) {
    checks.insert(checks.end(), {{"schema", check_schema},
                                 {"parents", check_parents},
                                 {"cycles", check_cycles},
                                 {"leaves", check_leaves},
                                 {"messages", check_messages},
                                 {"records", check_records},
                                 {"runs", check_runs}});
  }
  return run(checks, context, when_refused);
}

std::vector<Check> check_store(StoreContext& context) {
  auto answers = run({{"file_modes", check_file_modes},
                      {"sqlite_version", check_sqlite_version},
                      {"file_system", check_network},
                      {"wal_size", check_wal_size},
                      {"temporaries", check_temporaries}},
                     context);
  for (auto&& answer : check_content(context, WhenRefused::fail_the_check)) {
    answers.push_back(std::move(answer));
  }
  for (auto&& answer : run({{"removals", check_removals},
                            {"leases", check_leases},
                            {"index", check_index},
                            {"search", check_search}},
                           context)) {
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
    stats.runs = count("SELECT count(*) FROM runs");
  });
  stats.database_bytes = size_of(context.file);
  stats.wal_bytes = size_of(context.file.string() + "-wal");
  if (context.index) {
    const SessionIndex::Stats index = context.index->stats();
    stats.index_bytes = index.bytes;
    stats.index_lines = index.lines;
    stats.index_backlog = index_backlog(context);
    const auto search = SearchIndex::file_of(context);
    stats.search_bytes = size_of(search) + size_of(search.string() + "-wal");
  }
  return stats;
}

}  // namespace threadstore::state
