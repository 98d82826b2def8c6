#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/opened_store.h"

namespace threadstore::test {
namespace {

using testing::ElementsAre;

std::vector<std::string> lines(const std::vector<Thread>& threads) {
  std::vector<std::string> result;
  for (const Thread& thread : threads) {
    result.push_back(
        thread.id.str() + " " + std::to_string(thread.updated_at) + " " +
        std::string(to_word(thread.status)) + " " + std::string(to_word(thread.source)) + " " +
        thread.name.value_or("-") + " " +
        (thread.current_leaf_id ? std::to_string(to_int(*thread.current_leaf_id)) : "-"));
  }
  return result;
}

class OpenedFixture {
 public:
  explicit OpenedFixture(const std::string& name, OpenMode mode = OpenMode::read_write)
      : store_((copy_fixture(name, directory_.path()),
                StateStore::open(directory_ / "state.db", {.mode = mode}))) {}
  const StateStore& store() const { return store_; }
  std::filesystem::path operator/(const std::string& name) const { return directory_ / name; }

 private:
  const TempDir directory_;
  const StateStore store_;
};

TEST(ThreadFixtureTest, OriginalStoresListAsTheirMakerLeftThem) {
  for (const char* name : {"original-v4", "original-v5"}) {
    const OpenedFixture fixture(name);
    EXPECT_THAT(lines(fixture.store().threads().list().items),
                ElementsAre("thread-empty 1770001100 running api - -",
                            "thread-branches 1770000600 running resume Résumé 🐳 海豚 20",
                            "thread-linear 1770000100 running interactive Fix the parser 12"))
        << name;
    EXPECT_THAT(lines(fixture.store().threads().list({.archived = ArchivedFilter::archived}).items),
                ElementsAre("thread-archived 1760000100 archived fork Old work 22"))
        << name;
    EXPECT_FALSE(fixture.store().threads().get(ThreadId("thread-linear")).interrupted);
  }
}

TEST(ThreadFixtureTest, OldStoresListAfterTheirMigration) {
  for (const char* name : {"old-v0", "old-v0-columns", "old-v1", "old-v2", "old-v3"}) {
    const OpenedFixture fixture(name);
    EXPECT_THAT(lines(fixture.store().threads().list().items),
                ElementsAre("old-2 1700000105 idle interactive - 8",
                            "old-1 1700000005 idle interactive Linear talk 4"))
        << name;
    EXPECT_TRUE(std::filesystem::exists(
        fixture / (std::string("state.db.v") + (name[5] == '0' ? "0" : name + 5) + ".bak")))
        << name;
  }
}

TEST(ThreadFixtureTest, ReadingAnOldStoreChangesNothing) {
  const TempDir directory;
  copy_fixture("old-v0", directory.path());
  const std::string before = read_file(directory / "state.db");
  {
    const auto store = StateStore::open(directory / "state.db", {.mode = OpenMode::read_only});
    EXPECT_THAT(lines(store.threads().list().items),
                ElementsAre("old-2 1700000105 idle interactive - 8",
                            "old-1 1700000005 idle interactive Linear talk 4"));
    EXPECT_THROW(const_cast<StateStore&>(store).threads().create({}), Error);
  }
  EXPECT_TRUE(read_file(directory / "state.db") == before);
  EXPECT_FALSE(std::filesystem::exists(directory / "state.db.v0.bak"));
}

TEST(ThreadFixtureTest, NewerStoreIsRefusedForReadingAndWriting) {
  for (const OpenMode mode : {OpenMode::read_write, OpenMode::read_only}) {
    const TempDir directory;
    copy_fixture("newer-v6", directory.path());
    const std::string before = read_file(directory / "state.db");
    try {
      StateStore::open(directory / "state.db", {.mode = mode});
      FAIL() << "opened";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::newer_format);
    }
    EXPECT_TRUE(read_file(directory / "state.db") == before);
  }
}

TEST(ThreadFixtureTest, IndexOfTheOriginalNamesTheThreadThatWasDeleted) {
  const OpenedFixture fixture("original-v5");
  const IndexDifference difference = fixture.store().verify_index();
  EXPECT_TRUE(difference.missing.empty());
  EXPECT_TRUE(difference.different.empty());
  EXPECT_EQ(difference.extra.size(), 1U);
  EXPECT_FALSE(fixture.store().repair_index().ok());
  EXPECT_TRUE(fixture.store().verify_index().ok());
}

}  // namespace
}  // namespace threadstore::test
