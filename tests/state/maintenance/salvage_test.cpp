#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>

#include "tests/state/maintenance/store_files.h"
#include "tests/state/threads/other_program.h"
#include "tests/support/mutation.h"
#include "tests/support/temp_dir.h"

namespace threadstore::test {
namespace {

constexpr std::int64_t kPage = 4096;

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void overwrite(const fs::path& file, std::int64_t offset, const std::string& bytes) {
  std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
  out.seekp(offset);
  out << bytes;
}

/// A store of one file with many messages, as a backup leaves it.
class SalvageTest : public ::testing::Test {
 protected:
  SalvageTest() {
    const StateStore store = StateStore::open(dir / "made" / "state.db");
    for (int i = 0; i < 4; ++i) {
      const ThreadId thread("t" + std::to_string(i));
      store.threads().create({.id = thread, .name = "name " + std::to_string(i), .cwd = "/w"});
      std::vector<NewMessage> messages;
      for (int n = 0; n < 150; ++n) {
        messages.push_back({.role = "user", .content = std::string(200, 'm') + std::to_string(n)});
      }
      store.messages().append_many(thread, messages);
    }
    fs::create_directory(dir / "damaged");
    store.backup(file);
  }

  /// The leaf pages of the table, each with its first and last row number.
  struct Leaf {
    std::int64_t page = 0;
    std::int64_t first = 0;
    std::int64_t last = 0;
  };
  std::vector<Leaf> leaves_of_messages() const {
    const std::string bytes = bytes_of(file);
    const auto number = [&](std::int64_t at, int size) {
      std::int64_t value = 0;
      for (int i = 0; i < size; ++i) {
        value = value << 8 | static_cast<unsigned char>(bytes[static_cast<std::size_t>(at + i)]);
      }
      return value;
    };
    // A varint of up to two bytes, which is what these rows have.
    const auto varint = [&](std::int64_t& at) {
      std::int64_t value = 0;
      for (std::int64_t byte = 128; byte >= 128;) {
        byte = number(at++, 1);
        value = value << 7 | (byte & 127);
      }
      return value;
    };
    std::vector<Leaf> leaves;
    const std::int64_t root = std::stoll(
        OtherProgram(file).ask("SELECT rootpage FROM sqlite_master WHERE name = 'messages'"));
    const std::int64_t start = (root - 1) * kPage;
    const std::int64_t cells = number(start + 3, 2);
    for (std::int64_t i = 0; i <= cells; ++i) {
      const std::int64_t cell = i < cells ? start + number(start + 12 + 2 * i, 2) : start + 8;
      Leaf leaf{.page = number(cell, 4)};
      const std::int64_t at = (leaf.page - 1) * kPage;
      const std::int64_t rows = number(at + 3, 2);
      for (std::int64_t* row : {&leaf.first, &leaf.last}) {
        std::int64_t from = at + number(at + 8 + (row == &leaf.first ? 0 : 2 * (rows - 1)), 2);
        varint(from);  // the size of the row
        *row = varint(from);
      }
      leaves.push_back(leaf);
    }
    return leaves;
  }

  static std::vector<std::int64_t> ids_in(const fs::path& database) {
    std::vector<std::int64_t> ids;
    for (const Message& message :
         StateStore::open(database, {.mode = OpenMode::read_only}).messages().since({}, {}, 1000)) {
      ids.push_back(to_int(message.id));
    }
    return ids;
  }

  const TempDir dir;
  const fs::path file = dir / "damaged" / "state.db";
  const fs::path rescued = dir / "rescued.db";
};

TEST_F(SalvageTest, AWholeStoreComesOutWhole) {
  const std::string before = bytes_of(file);
  const Salvage done = salvage(file, rescued);
  EXPECT_TRUE(done.complete());
  EXPECT_TRUE(done.placeholders.empty());
  EXPECT_EQ(done.tables[0], (SalvagedTable{.name = "threads", .rows = 4, .lost = {}}));
  EXPECT_EQ(done.tables[1], (SalvagedTable{.name = "messages", .rows = 600, .lost = {}}));
  EXPECT_EQ(bytes_of(file), before);
  EXPECT_EQ(names_in(dir / "damaged"), std::vector<std::string>{"state.db"});
  EXPECT_EQ(names_in(dir.path()), (std::vector<std::string>{"damaged", "made", "rescued.db"}));
  const StateStore store = StateStore::open(rescued, {.mode = OpenMode::read_only});
  EXPECT_TRUE(store.messages().find_damaged().empty());
  EXPECT_EQ(store.messages().count(ThreadId("t3")), 150);
}

TEST_F(SalvageTest, AZeroedPageCostsItsOwnRowsAndNoOthers) {
  const auto leaves = leaves_of_messages();
  ASSERT_GT(leaves.size(), 10u);
  for (const std::size_t damaged : {std::size_t{0}, leaves.size() / 2, leaves.size() - 1}) {
    const Leaf& leaf = leaves[damaged];
    const std::string page = bytes_of(file).substr(
        static_cast<std::size_t>((leaf.page - 1) * kPage), static_cast<std::size_t>(kPage));
    overwrite(file, (leaf.page - 1) * kPage, std::string(static_cast<std::size_t>(kPage), '\0'));
    const std::string before = bytes_of(file);
    const Salvage done = salvage(file, rescued);
    EXPECT_EQ(bytes_of(file), before);
    std::vector<std::int64_t> expected;
    for (std::int64_t id = 1; id <= 600; ++id) {
      if (id < leaf.first || id > leaf.last) expected.push_back(id);
    }
    EXPECT_EQ(ids_in(rescued), expected);
    EXPECT_EQ(done.tables[1].rows, static_cast<std::int64_t>(expected.size()));
    EXPECT_EQ(done.tables[1].lost.size(), 1u);
    const StateStore store = StateStore::open(rescued);
    // The index belongs to the place of the store: restoring makes it.
    for (const Check& check : store.check()) {
      if (check.name == "index") continue;
      EXPECT_NE(check.status, CheckStatus::failed) << check.name;
    }
    fs::remove(rescued);
    overwrite(file, (leaf.page - 1) * kPage, page);
  }
}

TEST_F(SalvageTest, MessagesWhoseThreadIsLostGetAPlaceholder) {
  {
    OtherProgram other(file);
    other.run("PRAGMA foreign_keys=OFF");
    other.run("DELETE FROM threads WHERE id = 't2'");
  }
  const Salvage done = salvage(file, rescued);
  EXPECT_EQ(done.placeholders, std::vector<ThreadId>{ThreadId("t2")});
  const StateStore store = StateStore::open(rescued, {.mode = OpenMode::read_only});
  EXPECT_EQ(store.threads().get(ThreadId("t2")).name, "salvaged t2");
  EXPECT_EQ(contents(store, ThreadId("t2")).size(), 150u);
}

TEST_F(SalvageTest, WhatIsOnlyInTheLogComesOutAlsoWithoutTheFirstPage) {
  const fs::path live = dir / "made" / "state.db";
  const StateStore store = StateStore::open(live);
  store.threads().create({.id = ThreadId("late"), .name = "late"});
  store.messages().append(ThreadId("late"), {.role = "user", .content = std::string(9000, 'l')});
  for (const char* part : {"", "-wal"}) {
    fs::copy_file(live.string() + part, (dir / "damaged" / "live.db").string() + part);
  }
  overwrite(dir / "damaged" / "live.db", 0, std::string(static_cast<std::size_t>(kPage), '\0'));
  const Salvage done = salvage(dir / "damaged" / "live.db", rescued);
  EXPECT_EQ(done.tables[0].rows, 5);
  const StateStore found = StateStore::open(rescued, {.mode = OpenMode::read_only});
  EXPECT_EQ(contents(found, ThreadId("late")), std::vector<std::string>{std::string(9000, 'l')});
  EXPECT_EQ(found.messages().count(ThreadId("t3")), 150);
}

TEST_F(SalvageTest, ARowWithADamagedNumberTakesNoOthersPlace) {
  // A message's row: the size, its number (two bytes from 128 on), then the record.
  const Leaf leaf = leaves_of_messages().at(12);
  const std::int64_t start = (leaf.page - 1) * kPage;
  const std::string bytes = bytes_of(file);
  const auto byte = [&](std::int64_t at) {
    return static_cast<unsigned char>(bytes[static_cast<std::size_t>(at)]);
  };
  const std::int64_t cell = start + byte(start + 8) * 256 + byte(start + 9);
  overwrite(file, cell + 2, std::string("\x81\x10", 2));  // 144: another message has it
  const Salvage done = salvage(file, rescued);
  EXPECT_EQ(done.tables[1].rows, 599);
  EXPECT_THAT(done.tables[1].lost,
              ::testing::ElementsAre(::testing::StartsWith("row 144: UNIQUE constraint failed")));
  std::vector<std::int64_t> expected;
  for (std::int64_t id = 1; id <= 600; ++id) {
    if (id != leaf.first) expected.push_back(id);
  }
  EXPECT_EQ(ids_in(rescued), expected);
  EXPECT_TRUE(StateStore::open(rescued).messages().find_damaged().empty());
}

TEST_F(SalvageTest, RowsThatAPageNoLongerListsAreReported) {
  const Leaf leaf = leaves_of_messages().at(3);
  overwrite(file, (leaf.page - 1) * kPage + 3, std::string("\0\2", 2));  // how many rows it has
  const Salvage done = salvage(file, rescued);
  EXPECT_EQ(done.tables[1].rows, 600 - (leaf.last - leaf.first + 1) + 2);
  ASSERT_EQ(done.tables[1].lost.size(), 1u);
  EXPECT_THAT(done.tables[1].lost[0],
              ::testing::EndsWith("holds more than its list of rows names"));
}

TEST_F(SalvageTest, NoNumberIsGivenTwiceThoughTheNewestRowsAreGone) {
  OtherProgram(file).run("DELETE FROM messages WHERE id > 590");
  salvage(file, rescued);
  const StateStore store = StateStore::open(rescued);
  store.messages().append(ThreadId("t0"), {.role = "user", .content = "new"});
  EXPECT_EQ(ids_in(rescued).back(), 601);
}

TEST_F(SalvageTest, ADatabaseOfAnotherProgramIsNotAStore) {
  const fs::path foreign = dir / "damaged" / "foreign.db";
  write_text(foreign, "");
  OtherProgram(foreign).run("CREATE TABLE recipes(a)");
  EXPECT_THAT(error_of([&] { salvage(foreign, rescued); }),
              ::testing::StartsWith("invalid_argument: "));
  EXPECT_FALSE(fs::exists(rescued));
}

TEST_F(SalvageTest, NothingIsWrittenOverAndWhatIsNoDatabaseIsRefused) {
  write_text(rescued, "mine");
  EXPECT_THAT(error_of([&] { salvage(file, rescued); }), ::testing::StartsWith("conflict: "));
  EXPECT_EQ(bytes_of(rescued), "mine");
  fs::remove(rescued);
  write_text(file, std::string(8192, 'x'));
  EXPECT_THAT(error_of([&] { salvage(file, rescued); }), ::testing::StartsWith("damaged: "));
  EXPECT_THAT(error_of([&] { salvage(dir / "no", rescued); }),
              ::testing::StartsWith("not_found: "));
  EXPECT_EQ(names_in(dir.path()), (std::vector<std::string>{"damaged", "made"}));
}

/// Opens, lists, shows and checks; errors are answers, a crash is not.
std::string examine(const fs::path& file) {
  try {
    const StateStore store = StateStore::open(file, {.mode = OpenMode::read_only});
    for (const Thread& thread : store.threads().list({}).items) {
      store.messages().walk(thread.id, std::nullopt, [](const Message&) { return true; });
    }
    for (const Check& check : store.check()) {
      if (check.status == CheckStatus::failed) return "found";
    }
    return "whole";
  } catch (const Error& error) {
    return std::string(to_string(error.code()));
  }
}

TEST_F(SalvageTest, MutatedDatabasesAreNeverChangedAndNeverCrash) {
  const std::string original = bytes_of(file);
  each_seed(30, [&](int seed) {
    const std::string bytes = mutated(original, seed);
    const fs::path copy = dir / "damaged" / ("m" + std::to_string(seed));
    write_text(copy, bytes);
    const std::string answer = examine(copy);
    EXPECT_THAT(answer, ::testing::AnyOf("whole", "found", "damaged", "newer_format",
                                         "invalid_argument", "conflict", "not_found"));
    const std::string rescue = error_of([&] { salvage(copy, rescued); });
    EXPECT_THAT(rescue, ::testing::AnyOf("none", ::testing::StartsWith("damaged: ")));
    EXPECT_EQ(bytes_of(copy), bytes);
    fs::remove(copy);
    fs::remove(rescued);
  });
}

}  // namespace
}  // namespace threadstore::test
