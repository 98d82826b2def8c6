#include "state/db/database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/temp_dir.h"
#include "threadstore/error.h"

namespace threadstore::db {
namespace {

using std::chrono::milliseconds;
using test::TempDir;
using testing::ElementsAre;
using testing::HasSubstr;

Options options(Mode mode = Mode::read_write) {
  return {.mode = mode, .deadline = milliseconds(2000), .notice = [](const std::string&) {}};
}

std::shared_ptr<Database> make(const std::filesystem::path& file) {
  auto database = Database::open(file, options());
  database->write([](Session& session) {
    session.script("CREATE TABLE IF NOT EXISTS words(id INTEGER PRIMARY KEY, word TEXT)");
  });
  return database;
}

std::int64_t add(Database& database, const std::string& word) {
  return database.write([&](Session& session) {
    return session.insert("INSERT INTO words(word) VALUES(?)", {word});
  });
}

std::vector<std::string> words(Database& database) {
  return database.read([](Session& session) {
    return session.all("SELECT word FROM words ORDER BY id", {},
                       [](const Row& row) { return row.text(0); });
  });
}

ErrorCode code_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "nothing was thrown";
  return ErrorCode::invalid_argument;
}

TEST(DatabaseTest, TextWithNulCharactersIsReadBackUnchanged) {
  const TempDir dir;
  auto database = make(dir / "s.db");
  const std::string text("a\0b\xF0\x9F\x98\x80", 7);
  add(*database, text);
  EXPECT_THAT(words(*database), ElementsAre(text));
}

TEST(DatabaseTest, AnAbsentValueIsNullAndAnEmptyOneIsNot) {
  const TempDir dir;
  auto database = make(dir / "s.db");
  database->write([](Session& session) {
    session.run("INSERT INTO words(word) VALUES(?), (?)", {std::optional<std::string>(), ""});
  });
  const auto read = database->read([](Session& session) {
    return session.all("SELECT word FROM words ORDER BY id", {},
                       [](const Row& row) { return row.get<std::optional<std::string>>(0); });
  });
  EXPECT_THAT(read, ElementsAre(std::nullopt, std::optional<std::string>("")));
}

TEST(DatabaseTest, AWriteThatThrowsLeavesNothing) {
  const TempDir dir;
  auto database = make(dir / "s.db");
  EXPECT_THROW(database->write([](Session& session) {
    session.run("INSERT INTO words(word) VALUES('lost')");
    throw std::runtime_error("no");
  }),
               std::runtime_error);
  EXPECT_TRUE(words(*database).empty());
}

TEST(DatabaseTest, ANestedWriteThatThrowsUndoesOnlyItself) {
  const TempDir dir;
  auto database = make(dir / "s.db");
  std::vector<std::string> said;
  database->write([&](Session&) {
    add(*database, "kept");
    database->after_commit([&] { said.push_back("kept"); });
    try {
      database->write([&](Session&) {
        add(*database, "undone");
        database->after_commit([&] { said.push_back("undone"); });
        throw std::runtime_error("no");
      });
    } catch (const std::runtime_error&) {
    }
    EXPECT_THAT(words(*database), ElementsAre("kept")) << "reads see the open transaction";
    EXPECT_TRUE(said.empty()) << "not before the outermost commit";
  });
  EXPECT_THAT(words(*database), ElementsAre("kept"));
  EXPECT_THAT(said, ElementsAre("kept"));
}

TEST(DatabaseTest, AStatementAfterSqliteRolledBackByItselfIsRefused) {
  const TempDir dir;
  auto database = make(dir / "s.db");
  EXPECT_THROW(database->write([&](Session& session) {
    session.run("INSERT INTO words(id, word) VALUES(1, 'first')");
    try {
      session.run("INSERT OR ROLLBACK INTO words(id, word) VALUES(1, 'again')");
    } catch (const Error&) {
    }
    session.run("INSERT INTO words(word) VALUES('outside of any transaction')");
  }),
               Error);
  EXPECT_TRUE(words(*database).empty());
  add(*database, "later");
  EXPECT_THAT(words(*database), ElementsAre("later"));
}

TEST(DatabaseTest, AReaderDoesNotWaitForAnOpenWrite) {
  const TempDir dir;
  auto database = make(dir / "s.db");
  add(*database, "before");
  database->write([&](Session& session) {
    session.run("INSERT INTO words(word) VALUES('uncommitted')");
    std::vector<std::string> seen;
    std::thread reader([&] { seen = words(*database); });
    reader.join();
    EXPECT_THAT(seen, ElementsAre("before"));
  });
}

TEST(DatabaseTest, AReadSeesOneSnapshot) {
  const TempDir dir;
  auto database = make(dir / "s.db");
  add(*database, "first");
  database->read([&](Session& session) {
    const char* count = "SELECT count(*) FROM words";
    const auto before = session.value<std::int64_t>(count);
    std::thread([&] { add(*database, "second"); }).join();
    EXPECT_EQ(session.value<std::int64_t>(count), before);
  });
  EXPECT_THAT(words(*database), ElementsAre("first", "second"));
}

TEST(DatabaseTest, TheSameQueryMayRunInsideItsOwnVisitor) {
  const TempDir dir;
  auto database = make(dir / "s.db");
  add(*database, "a");
  add(*database, "b");
  std::vector<std::string> pairs;
  database->read([&](Session& session) {
    const char* all = "SELECT word FROM words ORDER BY id";
    session.each(all, {}, [&](const Row& outer) {
      session.each(all, {},
                   [&](const Row& inner) { pairs.push_back(outer.text(0) + inner.text(0)); });
    });
  });
  EXPECT_THAT(pairs, ElementsAre("aa", "ab", "ba", "bb"));
}

TEST(DatabaseTest, AThreadThatKeepsItsTransactionMakesOthersBusyAtTheDeadline) {
  const TempDir dir;
  auto database = Database::open(dir / "s.db", {.deadline = milliseconds(50)});
  database->write([&](Session&) {
    std::thread([&] {
      EXPECT_EQ(code_of([&] { database->write([](Session&) {}); }), ErrorCode::busy);
    }).join();
  });
}

TEST(DatabaseTest, AnotherProgramThatKeepsTheWriteLockIsNamed) {
  const TempDir dir;
  auto database = Database::open(dir / "s.db", {.deadline = milliseconds(50)});
  database->write([](Session& session) {
    session.script("CREATE TABLE words(id INTEGER PRIMARY KEY, word TEXT)");
  });
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open((dir / "s.db").c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  try {
    add(*database, "waits");
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::busy);
    EXPECT_THAT(error.what(), HasSubstr("process " + std::to_string(::getpid())));
  }
  sqlite3_close(other);
  add(*database, "goes on");
  EXPECT_THAT(words(*database), ElementsAre("goes on"));
}

TEST(DatabaseTest, TwoOpensOfOneFileShareTheirConnections) {
  const TempDir dir;
  auto one = make(dir / "s.db");
  std::filesystem::create_symlink(dir / "s.db", dir / "link.db");
  EXPECT_EQ(Database::open(dir / "link.db", options()), one);
}

TEST(DatabaseTest, AReplacedFileIsNoticedBeforeAnythingIsWritten) {
  const TempDir dir;
  auto database = make(dir / "s.db");
  std::filesystem::rename(dir / "s.db", dir / "moved.db");
  test::write_file(dir / "s.db", "something else");
  try {
    add(*database, "lost");
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.io_reason(), IoReason::store_replaced);
    EXPECT_THAT(error.what(), HasSubstr("s.db"));
  }
  EXPECT_EQ(test::read_file(dir / "s.db"), "something else");
}

TEST(DatabaseTest, WhatIsNoDatabaseIsDamagedAndUntouched) {
  const TempDir dir;
  test::write_file(dir / "s.db", std::string(5000, 'x'));
  EXPECT_EQ(code_of([&] { Database::open(dir / "s.db", options()); }), ErrorCode::damaged);
  EXPECT_EQ(test::read_file(dir / "s.db"), std::string(5000, 'x'));
}

TEST(DatabaseTest, ADirectoryInPlaceOfTheFileIsAnInvalidArgument) {
  const TempDir dir;
  std::filesystem::create_directory(dir / "s.db");
  EXPECT_EQ(code_of([&] { Database::open(dir / "s.db", options()); }), ErrorCode::invalid_argument);
}

TEST(DatabaseTest, AParentThatIsAFileIsAnIoErrorNamingIt) {
  const TempDir dir;
  test::write_file(dir / "file", "");
  try {
    Database::open(dir / "file" / "s.db", options());
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
    EXPECT_THAT(error.what(), HasSubstr("file/s.db"));
  }
}

TEST(DatabaseTest, ReadOnlyModeCreatesNothing) {
  const TempDir dir;
  EXPECT_EQ(code_of([&] { Database::open(dir / "none" / "s.db", options(Mode::read_only)); }),
            ErrorCode::not_found);
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

TEST(DatabaseTest, EveryFileIsPrivateWhateverTheUmask) {
  const TempDir dir;
  const mode_t before = ::umask(0);
  {
    auto database = make(dir / "home" / "s.db");
    add(*database, "a");
    for (const auto& entry : std::filesystem::directory_iterator(dir / "home")) {
      struct stat status {};
      ASSERT_EQ(::stat(entry.path().c_str(), &status), 0);
      EXPECT_EQ(status.st_mode & 0777, 0600U) << entry.path();
    }
    struct stat status {};
    ASSERT_EQ(::stat((dir / "home").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700U);
  }
  ::umask(before);
}

TEST(DatabaseTest, TheChangeCounterMovesWithCommitsOfOthers) {
  const TempDir dir;
  auto database = make(dir / "s.db");
  const auto before = database->change_counter();
  EXPECT_EQ(database->change_counter(), before);
  add(*database, "a");
  EXPECT_NE(database->change_counter(), before);
}

TEST(DatabaseTest, AnInMemoryDatabaseReadsWhatItWrote) {
  auto memory = Database::open(":memory:", options(Mode::memory));
  memory->write([](Session& session) {
    session.script("CREATE TABLE words(id INTEGER PRIMARY KEY, word TEXT)");
  });
  add(*memory, "a");
  EXPECT_THAT(words(*memory), ElementsAre("a"));
  EXPECT_NE(Database::open(":memory:", options(Mode::memory)), memory) << "each one is private";
}

TEST(DatabaseTest, ACopyHoldsEverythingAndIsPrivate) {
  const TempDir dir;
  auto database = make(dir / "s.db");
  add(*database, "a");
  database->copy_to(dir / "copy.db");
  struct stat status {};
  ASSERT_EQ(::stat((dir / "copy.db").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  EXPECT_THAT(words(*Database::open(dir / "copy.db", options(Mode::read_only))), ElementsAre("a"));
}

}  // namespace
}  // namespace threadstore::db
