// Lists of threads, with and without filters.

#include <memory>

#include "tests/bench/raw_store.h"
#include "tests/bench/row.h"
#include "tests/bench/store_maker.h"

namespace threadstore::bench {
namespace {

/// The columns of a thread in our order, its fork and removal, as a program would select them.
constexpr const char* columns =
    "SELECT t.id, t.rollout_path, t.preview, t.ephemeral, t.model_provider, t.created_at,"
    " t.updated_at, t.status, t.path, t.cwd, t.cli_version, t.source, t.title, t.sandbox_policy,"
    " t.approval_mode, t.archived, t.archived_at, t.git_sha, t.git_branch, t.git_origin_url,"
    " t.memory_mode, t.current_leaf_id, f.source_thread_id, f.message_id FROM threads AS t"
    " INDEXED BY threadstore_threads_list LEFT JOIN thread_forks AS f ON f.thread_id = t.id"
    " WHERE NOT EXISTS (SELECT 1 FROM thread_removals AS r WHERE r.thread_id = t.id AND"
    " r.kind = 'remove') AND t.archived = 0";
constexpr const char* order = " ORDER BY t.updated_at DESC, t.id DESC LIMIT 51";

/// A store that all rows of one size share.
struct Listed {
  StateStore ours;
  RawStore raw;

  explicit Listed(const std::filesystem::path& directory, const StoreShape& shape)
      : ours(make_store(directory, shape)), raw(directory / "state.db") {}
};

struct Filter {
  std::string name, words;
  ThreadFilter filter;
  std::string sql{};                   ///< what the raw program adds to WHERE
  std::optional<std::string> value{};  ///< its only parameter
  Goal goal = Goal::time(1.3);
};

std::size_t raw_list(RawStore& raw, sqlite3_stmt* statement) {
  std::vector<std::vector<std::string>> threads;
  raw.begin_read();
  raw.run(statement, [&](sqlite3_stmt* row) {
    auto& thread = threads.emplace_back();
    for (int i = 0; i < 24; ++i) {
      if (sqlite3_column_type(row, i) == SQLITE_TEXT) {
        thread.push_back(text_of(row, i));
      } else {
        sqlite3_column_int64(row, i);
      }
    }
  });
  raw.commit();
  return std::min<std::size_t>(threads.size(), 50);
}

Sides list_sides(const std::shared_ptr<Listed>& listed, const Filter& wanted) {
  sqlite3_stmt* statement = listed->raw.prepare(columns + wanted.sql + order);
  if (wanted.value) {
    sqlite3_bind_text(statement, 1, wanted.value->c_str(), -1, SQLITE_TRANSIENT);
  }
  if (listed->ours.threads().list(wanted.filter).items.size() != raw_list(listed->raw, statement)) {
    throw std::runtime_error("the two lists differ");
  }
  constexpr int count = 20;
  return {.ours =
              [listed, filter = wanted.filter] {
                for (int i = 0; i < count; ++i) listed->ours.threads().list(filter);
              },
          .raw =
              [listed, statement] {
                for (int i = 0; i < count; ++i) raw_list(listed->raw, statement);
              },
          .operations = count};
}

std::vector<Filter> filters() {
  return {
      {.name = "all", .words = "", .filter = {}},
      {.name = "cwd",
       .words = ", of one directory (2 %)",
       .filter = {.cwd = "/work/project-7"},
       .sql = " AND t.cwd = ?",
       .value = "/work/project-7"},
      {.name = "source",
       .words = ", of one source (25 %)",
       .filter = {.source = SessionSource::api},
       .sql = " AND t.source = ?",
       .value = "api"},
      {.name = "provider",
       .words = ", of one provider (33 %)",
       .filter = {.model_provider = "initech"},
       .sql = " AND t.model_provider = ?",
       .value = "initech"},
      {.name = "name_part",
       .words = ", name contains '77' (1 %)",
       .filter = {.name_part = "77"},
       .sql = " AND instr(lower(t.title), ?) > 0",
       .value = "77"},
      {.name = "nothing",
       .words = ", of a directory that has none",
       .filter = {.cwd = "/nowhere"},
       .sql = " AND t.cwd = ?",
       .value = "/nowhere",
       .goal = Goal::at_most(15'000)},
  };
}

void add_size(const Bench& bench, std::int64_t threads) {
  const auto shared = std::make_shared<std::shared_ptr<Listed>>();
  for (const Filter& filter : filters()) {
    const std::string size =
        threads >= 1000 ? std::to_string(threads / 1000) + " k" : std::to_string(threads);
    add(bench, PairedRow{.name = "list/" + filter.name + "/" + std::to_string(threads),
                         .work = "50 most recent of " + size + " threads" + filter.words,
                         .goal = filter.goal,
                         .rounds = 30,
                         .prepare = [shared, filter, threads](const Bench& b) {
                           if (!*shared) {
                             *shared = std::make_shared<Listed>(b.scratch(),
                                                                StoreShape{.threads = threads});
                           }
                           return list_sides(*shared, filter);
                         }});
  }
}

}  // namespace

void add_list_rows(const Bench& bench) {
  add_size(bench, bench.scale.pick<std::int64_t>(100, 1000, 1000));
  if (bench.scale.kind == Scale::Kind::quick) add_size(bench, 10'000);
  if (bench.scale.kind == Scale::Kind::full) add_size(bench, 100'000);
}

}  // namespace threadstore::bench
