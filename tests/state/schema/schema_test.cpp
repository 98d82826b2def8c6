#include "state/schema/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "state/schema/format.h"
#include "tests/state/schema/migrated_file.h"
#include "threadstore/error.h"

namespace threadstore::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSupersetOf;

constexpr const char* kTree =
    "SELECT thread_id, content, parent_entry_id FROM messages ORDER BY id";
constexpr const char* kLeaves = "SELECT id, current_leaf_id FROM threads ORDER BY id";

/// Tables of the format, each with its columns, keys and indexes as SQLite reports them.
std::map<std::string, std::vector<std::string>> format_of(db::Database& database,
                                                          const std::string& like) {
  std::map<std::string, std::vector<std::string>> tables;
  for (const std::string& table : rows(database, like)) {
    auto& shape = tables[table];
    const auto add = [&](const std::string& sql) {
      for (const std::string& line : rows(database, sql)) shape.push_back(line);
    };
    add("SELECT 'column', name, type, \"notnull\", dflt_value, pk FROM pragma_table_info('" +
        table + "') WHERE name NOT IN ('checksum', 'save_order', 'leaf_id') ORDER BY cid");
    add("SELECT 'key', \"from\", \"table\", \"to\", on_delete FROM pragma_foreign_key_list('" +
        table + "') ORDER BY \"from\", \"table\"");
    add("SELECT 'index', list.name, list.\"unique\", info.name, info.\"desc\" "
        "FROM pragma_index_list('" +
        table +
        "') AS list, pragma_index_xinfo(list.name) AS info "
        "WHERE info.key = 1 AND list.name NOT LIKE 'threadstore_%' ORDER BY list.name, info.seqno");
  }
  return tables;
}

std::vector<std::string> tree_of(const std::string& name) {
  const TempDir directory;
  return rows(*open_migrated(copy_of(name, directory)), kTree);
}

TEST(SchemaTest, NewFileHasTheTablesColumnsKeysAndIndexesOfTheOriginal) {
  const TempDir directory;
  const auto original = db::Database::open(copy_of("original-v5", directory), {});
  const auto ours = open_migrated(directory / "new.db");
  const std::string tables =
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name "
      "IN "
      "('threads', 'thread_dynamic_tools', 'messages', 'checkpoints', 'jobs', 'workflow_runs', "
      "'branch_runs', 'leaf_runs', 'control_node_runs', 'teacher_candidates', 'thread_goals')";
  const auto expected = format_of(*original, tables);
  EXPECT_EQ(expected.size(), 11U);
  EXPECT_EQ(format_of(*ours, tables), expected);
  EXPECT_THAT(rows(*ours, "PRAGMA user_version"), ElementsAre("5"));
}

TEST(SchemaTest, GoalsTakeOnlyTheWordsOfTheFormat) {
  const TempDir directory;
  const auto database = open_migrated(directory / "state.db");
  const auto save = [&](const std::string& status) {
    database->write([&](db::Session& session) {
      session.script(
          "INSERT INTO threads(id, preview, ephemeral, model_provider, created_at, "
          "updated_at, status, cwd, cli_version, source) "
          "VALUES ('t', '', 0, '', 0, 0, 'idle', '', '', 'api')");
      session.run(
          "INSERT INTO thread_goals(thread_id, goal_id, objective, status, created_at, "
          "updated_at) VALUES ('t', 'g', 'o', ?, 0, 0)",
          {status});
    });
  };
  EXPECT_THROW(save("unknown"), Error);
  EXPECT_NO_THROW(save("usage_limited"));
}

TEST(SchemaTest, FlatHistoryBecomesOneChainInTheOrderOfTimes) {
  const TempDir directory;
  const auto database = open_migrated(copy_of("old-v0", directory));
  EXPECT_THAT(rows(*database, kTree),
              ElementsAre("old-1|a|-", "old-1|b|3", "old-1|c|1", "old-1|d|2", "old-2|root|-",
                          "old-2|left|5", "old-2|right|6", "old-2|right child|7"));
  EXPECT_THAT(rows(*database, kLeaves), ElementsAre("old-1|4", "old-2|8"));
}

TEST(SchemaTest, LeafIsTheEndOfTheChainNotTheHighestId) {
  const TempDir directory;
  const auto file = copy_of("old-v0", directory);
  db::Database::open(file, {})->write([](db::Session& session) {
    session.script("UPDATE messages SET created_at = 1700000000 WHERE id = 8");
  });
  EXPECT_THAT(rows(*open_migrated(file), kLeaves), ElementsAre("old-1|4", "old-2|7"));
}

TEST(SchemaTest, ExistingTreeIsKeptWhateverTheVersionSays) {
  const std::vector<std::string> tree{"old-1|a|-",     "old-1|b|1",          "old-1|c|2",
                                      "old-1|d|3",     "old-2|root|-",       "old-2|left|5",
                                      "old-2|right|5", "old-2|right child|7"};
  for (const char* name : {"old-v0-columns", "old-v1", "old-v2", "old-v3"}) {
    EXPECT_EQ(tree_of(name), tree) << name;
  }
}

TEST(SchemaTest, HalfStampedFileGetsOnlyWhatIsMissing) {
  const TempDir directory;
  const auto file = copy_of("old-v0-columns", directory);
  db::Database::open(file, {})->write([](db::Session& session) {
    session.script("ALTER TABLE threads DROP COLUMN current_leaf_id");
    session.script("UPDATE messages SET parent_entry_id = 6 WHERE id = 7");
  });
  const auto database = open_migrated(file);
  EXPECT_THAT(rows(*database, "SELECT id, parent_entry_id FROM messages WHERE id > 5 ORDER BY id"),
              ElementsAre("6|5", "7|6", "8|7"));
  EXPECT_THAT(rows(*database, kLeaves), ElementsAre("old-1|4", "old-2|8"));
}

TEST(SchemaTest, EveryStepMayFindItsWorkDone) {
  const TempDir directory;
  const auto database = open_migrated(copy_of("original-v5", directory));
  const std::string everything =
      "SELECT type, name, sql FROM sqlite_master WHERE name <> 'sqlite_sequence' ORDER BY name";
  const auto before = rows(*database, everything);
  const auto tree = rows(*database, kTree);
  const auto leaves = rows(*database, kLeaves);
  database->write([](db::Session& session) {
    for (const db::Step& step : state::state_schema().format) step.apply(session);
    for (const db::Component& component : state::state_schema().components) {
      for (const db::Step& step : component.steps) step.apply(session);
    }
  });
  EXPECT_EQ(rows(*database, everything), before);
  EXPECT_EQ(rows(*database, kTree), tree);
  EXPECT_EQ(rows(*database, kLeaves), leaves);
}

TEST(SchemaTest, OriginalFilesKeepEveryRow) {
  for (const char* name : {"original-v4", "original-v5"}) {
    const TempDir directory;
    const auto file = copy_of(name, directory);
    const std::string goals = "SELECT thread_id, objective, status, tokens_used FROM thread_goals";
    const std::string jobs = "SELECT id, status, progress FROM jobs ORDER BY id";
    std::vector<std::vector<std::string>> before;
    {
      const auto untouched = db::Database::open(file, {});
      for (const auto& sql : {std::string(kTree), std::string(kLeaves), goals, jobs}) {
        before.push_back(rows(*untouched, sql));
      }
    }
    const auto migrated = open_migrated(file);
    std::vector<std::vector<std::string>> after;
    for (const auto& sql : {std::string(kTree), std::string(kLeaves), goals, jobs}) {
      after.push_back(rows(*migrated, sql));
    }
    EXPECT_EQ(after, before) << name;
    EXPECT_THAT(rows(*migrated, "PRAGMA user_version"), ElementsAre("5"));
    EXPECT_THAT(rows(*migrated, "PRAGMA integrity_check"), ElementsAre("ok"));
    EXPECT_THAT(rows(*migrated, "PRAGMA foreign_key_check"), IsEmpty());
  }
}

TEST(SchemaTest, NewerFormatIsRefusedAndNoByteChanges) {
  const TempDir directory;
  const auto file = copy_of("newer-v6", directory);
  const std::string before = read_file(file);
  try {
    open_migrated(file);
    FAIL() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::newer_format);
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("6"), testing::HasSubstr("5")));
  }
  EXPECT_TRUE(read_file(file) == before);
  EXPECT_FALSE(std::filesystem::exists(file.string() + ".v6.bak"));
}

TEST(SchemaTest, NewerComponentIsRefused) {
  const TempDir directory;
  const auto file = directory / "state.db";
  open_migrated(file)->write([](db::Session& session) {
    session.script("UPDATE threadstore_schema SET version = 99 WHERE component = 'threads'");
  });
  try {
    open_migrated(file);
    FAIL() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::newer_format);
    EXPECT_THAT(error.what(), testing::HasSubstr("99"));
  }
}

TEST(SchemaTest, OurAdditionsLeaveTheFormatsVersionAlone) {
  const TempDir directory;
  const auto database = open_migrated(copy_of("original-v5", directory));
  EXPECT_THAT(rows(*database, "SELECT component FROM threadstore_schema"),
              IsSupersetOf({"threads", "checkpoints", "leases"}));
  EXPECT_THAT(rows(*database, "PRAGMA user_version"), ElementsAre("5"));
}

}  // namespace
}  // namespace threadstore::test
