#include "state/search/search_index.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <csignal>

#include "tests/state/db/sqlite_connection.h"
#include "tests/state/threads/message_fixture.h"
#include "tests/support/child_process.h"

namespace threadstore {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

namespace fs = std::filesystem;

class SearchIndexTest : public test::MessageStore {
 protected:
  std::size_t found(const std::string& text) {
    return store_.search().find({.text = text, .limit = 1000}).items.size();
  }
  std::string ask(const std::string& sql) { return test::ask(test::open_sqlite(file_).get(), sql); }
  void run(const std::string& sql) { test::sql(test::open_sqlite(file_).get(), sql); }
  Check examined(const std::string& name = "search") const {
    for (const Check& check : store_.check()) {
      if (check.name == name) return check;
    }
    return {};
  }
  /// All bytes that the index has on the disk.
  std::string bytes() const {
    std::string all = test::read_file(file_);
    if (fs::exists(wal_)) all += test::read_file(wal_);
    return all;
  }

  const fs::path file_ = dir_ / "search.db";
  const fs::path wal_ = dir_ / "search.db-wal";
  ThreadId thread = make_thread();
};

TEST_F(SearchIndexTest, IsMadeBySearchingAndNotByWriting) {
  append(thread, "needle");
  EXPECT_FALSE(fs::exists(file_));
  EXPECT_EQ(found("needle"), 1u);
  struct stat status {};
  ASSERT_EQ(::stat(file_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  EXPECT_GE(store_.stats().search_bytes, status.st_size);
}

TEST_F(SearchIndexTest, TellsItsProgress) {
  for (int i = 0; i < 3; ++i) append(thread, "needle" + std::string(6'400'000, 'a'));
  std::vector<std::pair<std::int64_t, std::int64_t>> told;
  store_.search().find({.text = "needle"},
                       [&](auto done, auto total) { told.emplace_back(done, total); });
  EXPECT_THAT(told, testing::ElementsAre(std::pair(2, 3), std::pair(3, 3)));
}

TEST_F(SearchIndexTest, IsRightAgainAfterItsSearcherWasKilled) {
  for (int i = 0; i < 6; ++i) append(thread, "needle" + std::string(6'400'000, 'a'));
  for (int i = 0; i < 3; ++i) {
    test::ChildProcess searcher({SEARCH_ACTOR, (dir_ / "state.db").string(), "needle"});
    searcher.read_line();
    searcher.kill(SIGKILL);
    searcher.wait();
  }
  EXPECT_EQ(found("needle"), 6u);
  EXPECT_EQ(ask("SELECT count(*) || ' ' || count(DISTINCT rowid) FROM search_texts"), "6 6");
  EXPECT_EQ(ask("PRAGMA integrity_check"), "ok");
}

TEST_F(SearchIndexTest, MergesWhatManySearchesMade) {
  for (int i = 0; i < 70; ++i) {
    append(thread, "needle " + std::to_string(i));
    EXPECT_EQ(found("needle"), static_cast<std::size_t>(i + 1));
  }
  EXPECT_EQ(ask("SELECT segments FROM search_position"), "10") << "64 became 4, and 6 came since";
  run("INSERT INTO search_texts(search_texts) VALUES ('integrity-check')");
}

TEST_F(SearchIndexTest, CanBeThrownAway) {
  append(thread, "needle");
  EXPECT_EQ(found("needle"), 1u);
  for (const fs::path& file : {wal_, dir_ / "search.db-shm", file_}) fs::remove(file);
  EXPECT_EQ(found("needle"), 1u);
}

TEST_F(SearchIndexTest, IsMadeAnewWhenItIsDamaged) {
  append(thread, "needle");
  test::write_file(file_, std::string(8192, 'x'));
  EXPECT_EQ(found("needle"), 1u);
  EXPECT_EQ(ask("SELECT count(*) FROM search_texts"), "1");
}

TEST_F(SearchIndexTest, IsMadeAnewForAnotherStore) {
  append(thread, "needle");
  EXPECT_EQ(found("needle"), 1u);
  run("UPDATE search_position SET store = 'another', up_to = 1000");
  append(thread, "needle");
  EXPECT_EQ(found("needle"), 2u);
}

TEST_F(SearchIndexTest, IsMadeAnewForAnotherVersion) {
  append(thread, "needle");
  run("CREATE TABLE search_position(what); PRAGMA user_version = 77");
  EXPECT_EQ(found("needle"), 1u);
  EXPECT_EQ(ask("PRAGMA user_version"), "2");
}

TEST_F(SearchIndexTest, IsMadeAnewWhenTheStoreWasPutBack) {
  append(thread, "needle one");
  append(thread, "needle two");
  EXPECT_EQ(found("needle"), 2u);
  // As after a restored backup: the ids are given out again.
  test::sql(test::open_sqlite(dir_ / "state.db").get(),
            "DELETE FROM messages WHERE id = 2;"
            "UPDATE sqlite_sequence SET seq = 1 WHERE name = 'messages'");
  store_.messages().set_current_leaf(thread, MessageId{1});
  EXPECT_EQ(found("needle"), 1u);
  append(thread, "thread");
  EXPECT_EQ(found("thread"), 1u);
}

TEST_F(SearchIndexTest, LeavesAnotherProgramsFileAlone) {
  append(thread, "needle");
  run("CREATE TABLE theirs(what)");
  EXPECT_EQ(found("needle"), 1u);
  EXPECT_EQ(ask("SELECT group_concat(name) FROM sqlite_master"), "theirs");
}

TEST_F(SearchIndexTest, MessagesAreReadWhereItCannotBeWritten) {
  append(thread, "needle");
  append(thread, "a needle");
  fs::create_directory(file_);
  EXPECT_EQ(found("needle"), 2u);
}

TEST_F(SearchIndexTest, RemovedTextLeavesTheFile) {
  append(thread, "the PASSWORD is xyzzy-plugh-42");
  const ThreadId other = make_thread("other");
  append(other, "something else");
  EXPECT_EQ(found("xyzzy"), 1u);
  EXPECT_THAT(bytes(), HasSubstr("xyzzy"));
  EXPECT_FALSE(store_.threads().remove(thread).text_may_linger);
  EXPECT_THAT(bytes(), Not(HasSubstr("xyzzy")));
  // The trigrams, too: the vocabulary has none of them.
  run("CREATE VIRTUAL TABLE vocabulary USING fts5vocab('search_texts', 'row')");
  EXPECT_EQ(ask("SELECT count(*) FROM vocabulary WHERE term = 'xyz'"), "0");
  EXPECT_EQ(ask("SELECT unmerged FROM search_position"), "0");
  EXPECT_EQ(found("something"), 1u);
}

TEST_F(SearchIndexTest, ClearedTextLeavesTheFileAndWhatAForkKeepsStays) {
  append(thread, "kept xyzzy-kept");
  const ThreadId fork = store_.threads().fork({.source = thread}).thread.id;
  append(thread, "secret xyzzy-gone");
  EXPECT_EQ(found("xyzzy"), 2u);
  messages_.clear(thread);
  EXPECT_THAT(bytes(), Not(HasSubstr("xyzzy-gone")));
  EXPECT_EQ(ask("SELECT group_concat(rowid) FROM search_texts"), "1");
  EXPECT_EQ(store_.search().find({.text = "xyzzy"}).items.at(0).thread_id, fork);
}

TEST_F(SearchIndexTest, ARemovalInATransactionLeavesTheFileAfterTheCommit) {
  append(thread, "xyzzy");
  EXPECT_EQ(found("xyzzy"), 1u);
  store_.transaction([&] { store_.threads().remove(thread); });
  EXPECT_THAT(bytes(), Not(HasSubstr("xyzzy")));
}

TEST_F(SearchIndexTest, ARemovalThatDiedIsTakenOutByTheNextOpener) {
  append_chain(thread, 500, "xyzzy");
  EXPECT_EQ(found("xyzzy"), 500u);
  EXPECT_ANY_THROW(store_.threads().remove(thread, [](auto, auto) { throw std::bad_alloc(); }));
  open();
  EXPECT_THAT(bytes(), Not(HasSubstr("xyzzy")));
}

TEST_F(SearchIndexTest, RebuildingTakesOutWhatAnotherProgramDeleted) {
  append(thread, "xyzzy");
  append(thread, "else");
  EXPECT_EQ(found("xyzzy"), 1u);
  test::sql(test::open_sqlite(dir_ / "state.db").get(), "DELETE FROM messages WHERE id = 1");
  EXPECT_EQ(found("xyzzy"), 0u);
  store_.search().rebuild();
  EXPECT_EQ(ask("SELECT group_concat(rowid) FROM search_texts"), "2");
}

TEST_F(SearchIndexTest, TheDoctorSaysWhatItIsWorth) {
  EXPECT_THAT(examined().detail, HasSubstr("the first search makes it"));
  EXPECT_FALSE(fs::exists(file_)) << "looking makes none";
  append(thread, "needle");
  found("needle");
  EXPECT_EQ(examined(), (Check{.name = "search", .detail = "the search index has every message"}));
  append(thread, "another needle");
  EXPECT_EQ(examined().detail, "the next search takes in 1 message");
  found("needle");
  test::sql(test::open_sqlite(dir_ / "state.db").get(), "DELETE FROM messages WHERE id = 1");
  EXPECT_EQ(examined().status, CheckStatus::warning);
  EXPECT_THAT(examined().detail, HasSubstr("the text of 1 deleted message still stands in"));
  store_.search().rebuild();
  EXPECT_EQ(examined().status, CheckStatus::ok);
  run("UPDATE search_position SET store = 'another'");
  EXPECT_THAT(examined().detail, HasSubstr("the next search makes it anew"));
  EXPECT_EQ(ask("SELECT store FROM search_position"), "another") << "looking changes none";
}

TEST_F(SearchIndexTest, TheDoctorFindsADamagedOneAndAnotherProgramsFile) {
  append(thread, "needle");
  test::write_file(file_, std::string(8192, 'x'));
  EXPECT_EQ(examined().status, CheckStatus::warning);
  EXPECT_THAT(examined().advice, HasSubstr("search --rebuild"));
  fs::remove(file_);
  run("CREATE TABLE theirs(what)");
  EXPECT_EQ(examined().status, CheckStatus::warning);
  EXPECT_THAT(examined().detail, HasSubstr("another program"));
  for (const Check& check : store_.check()) EXPECT_NE(check.status, CheckStatus::failed);
}

TEST_F(SearchIndexTest, TheDoctorClosesItsModesAndRemovesALogWithoutIt) {
  append(thread, "needle");
  found("needle");
  fs::permissions(file_, fs::perms(0644));
  EXPECT_THAT(examined("file_modes").detail, HasSubstr("search.db (0644)"));
  store_.repair();
  EXPECT_EQ(examined("file_modes").status, CheckStatus::ok);
  fs::remove(file_);
  test::write_file(wal_, "left");
  EXPECT_THAT(examined("temporaries").detail, HasSubstr("search.db-wal"));
  store_.repair();
  EXPECT_FALSE(fs::exists(wal_));
}

TEST_F(SearchIndexTest, AReadingStoreKeepsTheIndexToo) {
  append(thread, "needle");
  const StateStore reader = StateStore::open(dir_ / "state.db", {.mode = OpenMode::read_only});
  EXPECT_EQ(reader.search().find({.text = "needle"}).items.size(), 1u);
  EXPECT_TRUE(fs::exists(file_));
}

}  // namespace
}  // namespace threadstore
