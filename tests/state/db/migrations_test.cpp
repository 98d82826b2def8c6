#include "state/db/migrations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "tests/support/temp_dir.h"
#include "threadstore/error.h"

namespace threadstore::db {
namespace {

using test::TempDir;
using testing::AllOf;
using testing::HasSubstr;

Step step(std::int64_t version, const std::string& sql) {
  return {version, [sql](Session& session) { session.script(sql); }};
}

Schema schema() {
  return {.identity_table = "notes",
          .format = {step(1, "CREATE TABLE notes(id INTEGER PRIMARY KEY)"),
                     step(2, "CREATE TABLE pages(id INTEGER PRIMARY KEY)")},
          .components = {{"extra", {step(1, "CREATE TABLE extra(id INTEGER PRIMARY KEY)")}}}};
}

std::shared_ptr<Database> open(const TempDir& dir, Mode mode = Mode::read_write) {
  return Database::open(dir / "s.db", {.mode = mode, .notice = [](const std::string&) {}});
}

void migrate_quietly(Database& database, const Schema& target) {
  migrate(database, target, [](const std::string&) {});
}

bool current(Database& database, const Schema& target) {
  return database.read(
      [&](Session& session) { return is_current(session, target, database.file().string()); });
}

TEST(MigrationsTest, ANewFileGetsEveryStepOnce) {
  const TempDir dir;
  auto database = open(dir);
  migrate_quietly(*database, schema());
  EXPECT_TRUE(current(*database, schema()));
  migrate_quietly(*database, schema());
  EXPECT_FALSE(std::filesystem::exists(dir / "s.db.v0.bak")) << "there was nothing to keep";
}

TEST(MigrationsTest, AnOlderFileIsKeptAsABackupBeforeItsFirstChange) {
  const TempDir dir;
  auto database = open(dir);
  database->write([](Session& session) {
    session.script("CREATE TABLE notes(id INTEGER PRIMARY KEY); PRAGMA user_version = 1");
  });
  std::vector<std::string> told;
  migrate(*database, schema(), [&](const std::string& text) { told.push_back(text); });
  EXPECT_THAT(told, testing::ElementsAre(AllOf(HasSubstr("schema 1"), HasSubstr("s.db.v1.bak"))));
  EXPECT_TRUE(current(*database, schema()));
  auto backup = Database::open(dir / "s.db.v1.bak", {.mode = Mode::read_only});
  EXPECT_FALSE(backup->read([](Session& session) { return has_column(session, "pages", "id"); }));
}

TEST(MigrationsTest, ANewerFileIsRefusedWithBothNumbersAndUnchanged) {
  const TempDir dir;
  auto database = open(dir);
  migrate_quietly(*database, schema());
  database->write([](Session& session) { session.script("PRAGMA user_version = 9"); });
  try {
    migrate_quietly(*database, schema());
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::newer_format);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("version 9"), HasSubstr("version 2")));
  }
}

TEST(MigrationsTest, ANewerComponentIsRefused) {
  const TempDir dir;
  auto database = open(dir);
  migrate_quietly(*database, schema());
  database->write(
      [](Session& session) { session.run("UPDATE threadstore_schema SET version = 4"); });
  try {
    migrate_quietly(*database, schema());
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::newer_format);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("'extra'"), HasSubstr("4"), HasSubstr("1")));
  }
}

TEST(MigrationsTest, AnotherProgramsDatabaseIsNotAdopted) {
  const TempDir dir;
  auto database = open(dir);
  database->write([](Session& session) { session.script("CREATE TABLE bookmarks(url TEXT)"); });
  try {
    migrate_quietly(*database, schema());
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  }
  EXPECT_FALSE(database->read([](Session& session) { return has_column(session, "notes", "id"); }));
}

TEST(MigrationsTest, AStepThatFailsLeavesTheVersionBeforeIt) {
  const TempDir dir;
  auto database = open(dir);
  Schema broken = schema();
  broken.format[1] = step(2, "CREATE TABLE half(id INTEGER); CREATE TABLE half(id INTEGER)");
  EXPECT_THROW(migrate_quietly(*database, broken), Error);
  EXPECT_FALSE(database->read([](Session& session) { return has_column(session, "half", "id"); }));
  migrate_quietly(*database, schema());
  EXPECT_TRUE(current(*database, schema()));
}

}  // namespace
}  // namespace threadstore::db
