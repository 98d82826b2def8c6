#include "threadstore/session_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temp_dir.h"
#include "threadstore/error.h"

namespace threadstore {
namespace {

using std::optional;
using std::string;
using test::read_file;
using test::TempDir;
using test::write_file;
using testing::ElementsAre;

constexpr UnixSeconds now = 1'770'000'000;
constexpr UnixSeconds day = 24 * 60 * 60;

IndexEntry named(const string& id, optional<string> name, UnixSeconds updated_at = now) {
  return {.thread_id = ThreadId(id),
          .thread_name = std::move(name),
          .updated_at = updated_at,
          .rollout_path = "/r/" + id + ".jsonl"};
}

class SessionIndexTest : public testing::Test {
 protected:
  std::vector<string> ids_named(const string& name) const {
    std::vector<string> ids;
    for (const IndexEntry& entry : index.find_by_name(name)) ids.push_back(entry.thread_id.str());
    return ids;
  }

  TempDir dir;
  std::filesystem::path file = dir / "session_index.jsonl";
  UnixSeconds clock = now;
  SessionIndex index{file, {.clock = [this] { return clock * 1000; }}};
};

TEST_F(SessionIndexTest, AMissingFileIsEmptyAndLookingCreatesNothing) {
  EXPECT_EQ(index.find(ThreadId("a")), std::nullopt);
  EXPECT_THAT(index.entries(), ElementsAre());
  EXPECT_EQ(index.find_path_by_name("x"), std::nullopt);
  EXPECT_EQ(index.compact().lines_after, 0);
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

TEST_F(SessionIndexTest, TheLastLineOfAThreadWins) {
  index.append({named("a", "old", now + 5), named("b", "other")});
  index.append(named("a", "new", now));
  EXPECT_EQ(index.find(ThreadId("a")), named("a", "new", now));
  EXPECT_THAT(ids_named("old"), ElementsAre());
  EXPECT_THAT(ids_named("new"), ElementsAre("a"));
}

TEST_F(SessionIndexTest, FindsNamesOfSeveralThreads) {
  index.append({named("a", "A"), named("b", std::nullopt), named("c", "C")});
  index.append_tombstone(ThreadId("c"), now);
  const std::map<ThreadId, optional<string>> expected{{ThreadId("a"), "A"},
                                                      {ThreadId("b"), std::nullopt},
                                                      {ThreadId("c"), std::nullopt},
                                                      {ThreadId("none"), std::nullopt}};
  EXPECT_EQ(index.find_names({ThreadId("a"), ThreadId("b"), ThreadId("c"), ThreadId("none")}),
            expected);
}

TEST_F(SessionIndexTest, NamesAreFoundWhateverTheirCase) {
  index.append({named("a", "Fix The PARSER"), named("b", "RÉSUMÉ Ωσς"), named("c", "fıx")});
  EXPECT_THAT(ids_named("fix the parser"), ElementsAre("a"));
  EXPECT_THAT(ids_named("résumé ωΣσ"), ElementsAre("b"));
  EXPECT_THAT(ids_named("FIX"), ElementsAre());
  EXPECT_THAT(ids_named("fix the parse"), ElementsAre());
}

TEST_F(SessionIndexTest, OfOneNameTheNewestComesFirstAndATieGoesToTheLaterLine) {
  index.append({named("a", "n", now), named("b", "N", now + 9), named("c", "n", now)});
  EXPECT_THAT(ids_named("n"), ElementsAre("b", "c", "a"));
  EXPECT_EQ(index.find_path_by_name("n"), "/r/b.jsonl");
  index.append(named("a", "n", now));
  EXPECT_THAT(ids_named("n"), ElementsAre("b", "a", "c"));
}

TEST_F(SessionIndexTest, FollowsANameBackAndForth) {
  index.append(named("a", "one"));
  EXPECT_THAT(ids_named("one"), ElementsAre("a"));
  index.append(named("a", "two"));
  EXPECT_THAT(ids_named("one"), ElementsAre());
  index.append(named("a", "ONE"));
  EXPECT_THAT(ids_named("one"), ElementsAre("a"));
  EXPECT_THAT(ids_named("two"), ElementsAre());
}

TEST_F(SessionIndexTest, SeesWhatOtherProgramsAppendReplaceAndRemove) {
  index.append(named("a", "one"));
  EXPECT_THAT(ids_named("one"), ElementsAre("a"));
  SessionIndex other(file);
  other.append(named("b", "one", now + 1));
  EXPECT_THAT(ids_named("one"), ElementsAre("b", "a"));
  other.rebuild([] { return std::vector{named("c", "one")}; });
  EXPECT_THAT(ids_named("one"), ElementsAre("c"));
  const string shorter = read_file(file);
  write_file(file, shorter + shorter);  // rewritten in place
  other.append(named("d", "one"));
  EXPECT_THAT(ids_named("one"), ElementsAre("d", "c"));
  std::filesystem::remove(file);
  EXPECT_THAT(ids_named("one"), ElementsAre());
}

TEST_F(SessionIndexTest, NoticesAFileThatGrewIntoAnother) {
  index.append({named("a", "one"), named("b", "two")});
  EXPECT_THAT(ids_named("one"), ElementsAre("a"));
  // Same inode, longer, other content before the place that was read up to.
  string bytes = read_file(file);
  bytes.replace(bytes.find("two"), 3, "six");
  write_file(file, bytes + bytes);
  EXPECT_THAT(ids_named("six"), ElementsAre("b"));
  EXPECT_THAT(ids_named("two"), ElementsAre());
}

TEST_F(SessionIndexTest, ATombstoneHidesTheThreadAlsoFromLateAppends) {
  index.append({named("a", "secret"), named("b", "kept")});
  index.append_tombstone(ThreadId("a"), now);
  EXPECT_EQ(index.find(ThreadId("a")), std::nullopt);
  index.append(named("a", "secret", now + 100));  // another program did not know
  EXPECT_EQ(index.find(ThreadId("a")), std::nullopt);
  EXPECT_THAT(ids_named("secret"), ElementsAre());
  index.compact();
  EXPECT_THAT(read_file(file), testing::Not(testing::HasSubstr("secret")));
  EXPECT_EQ(index.find(ThreadId("a")), std::nullopt);
  EXPECT_EQ(index.find(ThreadId("b")), named("b", "kept"));
}

TEST_F(SessionIndexTest, RemovingANamedThreadTakesItsNamesOutOfTheFileAtOnce) {
  index.append({named("a", "secret"), named("b", "kept")});
  index.append(named("a", std::nullopt));  // the name lingers in an older line
  index.append_tombstone(ThreadId("a"), now);
  EXPECT_EQ(read_file(file),
            "{\"thread_id\":\"b\",\"thread_name\":\"kept\",\"updated_at\":1770000000,"
            "\"rollout_path\":\"/r/b.jsonl\"}\n"
            "{\"thread_id\":\"a\",\"thread_name\":null,\"updated_at\":1770000000,"
            "\"rollout_path\":null,\"deleted\":true}\n");
}

TEST_F(SessionIndexTest, AThreadMadeAgainUnderItsOldIdSaysSo) {
  index.append(named("a", "first"));
  index.append_tombstone(ThreadId("a"), now);
  IndexEntry again = named("a", "second");
  again.revived = true;
  index.append(again);
  EXPECT_EQ(index.find(ThreadId("a")), named("a", "second"));
  index.append(named("a", "third"));
  EXPECT_EQ(index.find(ThreadId("a")), named("a", "third"));
}

TEST_F(SessionIndexTest, CompactionKeepsTombstonesForThirtyDays) {
  index.append_tombstone(ThreadId("a"), now);
  clock = now + 30 * day;
  EXPECT_EQ(index.compact().lines_after, 1);
  clock += 1;
  const IndexCompaction result = index.compact();
  EXPECT_EQ(std::pair(result.lines_before, result.lines_after),
            std::pair(std::int64_t{1}, std::int64_t{0}));
  EXPECT_EQ(read_file(file), "");
}

TEST_F(SessionIndexTest, CompactionKeepsTheLastLineOfEachThreadByteForByte) {
  const string unknown = R"({"id":"x","updated_at":"2026-03-01T10:00:00Z","color":"red"})"
                         "\n";
  write_file(file, R"({"id":"x","updated_at":"2026-03-01T09:00:00Z"})"
                   "\n\nnonsense\n" +
                       unknown);
  index.append(named("a", "A"));
  const string last = read_file(file).substr(read_file(file).find("{\"thread_id"));
  const IndexCompaction result = index.compact();
  EXPECT_EQ(std::pair(result.lines_before, result.lines_after),
            std::pair(std::int64_t{5}, std::int64_t{2}));
  EXPECT_EQ(read_file(file), unknown + last);
}

TEST_F(SessionIndexTest, CompactionKeepsAWholeLastLineWithoutNewline) {
  const string entry = R"({"thread_id":"a","thread_name":"x","updated_at":1,"rollout_path":null})";
  write_file(file, entry);
  EXPECT_EQ(index.find(ThreadId("a")), std::nullopt);  // perhaps it is still being written
  index.compact();
  EXPECT_EQ(read_file(file), entry + "\n");
}

TEST_F(SessionIndexTest, CompactsByItselfAtAMultipleOfHalfAMebibyteWhenHalfIsOld) {
  const auto grow_to = [&](std::int64_t bytes, int threads) {
    int round = 0;
    while (index.stats().bytes < bytes) {
      std::vector<IndexEntry> entries;
      for (int i = 0; i < 200; ++i)
        entries.push_back(named(std::to_string(round++ % threads), "n"));
      index.append(entries);
    }
  };
  grow_to(500 * 1024, 100);
  const std::int64_t lines = index.stats().lines;
  EXPECT_GT(lines, 5'000);
  index.append(std::vector(500, named("0", "n")));
  EXPECT_EQ(index.stats().lines, 100);

  index.rebuild([] { return std::vector<IndexEntry>(); });
  grow_to(600 * 1024, 1'000'000);  // all distinct: nothing to gain
  EXPECT_EQ(index.stats().lines, index.stats().threads);
  EXPECT_GT(index.stats().bytes, 600 * 1024);
}

TEST_F(SessionIndexTest, RebuildLeavesExactlyTheEntriesAndKeepsUnknownKeysAndTombstones) {
  const string kept =
      R"({"thread_id":"k","thread_name":"K","updated_at":5,"rollout_path":null,"c":1})";
  write_file(file, kept + "\nnonsense\n" + kept);
  index.append({named("extra", "E"), named("d", "D"), named("back", "B")});
  index.append_tombstone(ThreadId("d"), now);
  index.append_tombstone(ThreadId("back"), now);
  const IndexEntry k{.thread_id = ThreadId("k"), .thread_name = "K", .updated_at = 5};
  index.rebuild([&] { return std::vector{k, named("back", "B2"), named("new", "N")}; });
  EXPECT_THAT(index.entries(), ElementsAre(named("new", "N"), named("back", "B2"), k));
  EXPECT_THAT(read_file(file), testing::HasSubstr(kept + "\n"));
  index.append(named("d", "late"));
  EXPECT_EQ(index.find(ThreadId("d")), std::nullopt);
}

TEST_F(SessionIndexTest, EntriesMadeUnderTheLockMayDependOnTheIndex) {
  index.append(named("a", "A"));
  index.append_latest(
      [&] {
        EXPECT_THROW(SessionIndex(file, {.deadline = std::chrono::milliseconds(0)}).compact(),
                     Error);
        return std::vector{named("b", index.find(ThreadId("a"))->thread_name)};
      },
      std::chrono::milliseconds(0));
  EXPECT_EQ(index.find(ThreadId("b")), named("b", "A"));
  const string before = read_file(file);
  index.append_latest([] { return std::vector<IndexEntry>(); }, std::chrono::milliseconds(0));
  EXPECT_THROW(index.append_latest(
                   []() -> std::vector<IndexEntry> { throw Error(ErrorCode::conflict, "x"); },
                   std::chrono::milliseconds(0)),
               Error);
  EXPECT_EQ(read_file(file), before);
}

TEST_F(SessionIndexTest, ComparesExistenceNameAndPathButNotTime) {
  index.append({named("same", "S"), named("renamed", "old"), named("extra", "E"),
                named("moved", "M"), named("deleted", "D")});
  index.append_tombstone(ThreadId("deleted"), now);
  IndexEntry moved = named("moved", "M");
  moved.rollout_path.reset();
  const IndexDifference difference =
      index.compare({named("same", "S", now + 99), named("renamed", "new"), moved,
                     named("missing", "X"), named("deleted", "D")});
  EXPECT_THAT(difference.missing, ElementsAre(ThreadId("missing"), ThreadId("deleted")));
  EXPECT_THAT(difference.extra, ElementsAre(ThreadId("extra")));
  EXPECT_THAT(difference.different, ElementsAre(ThreadId("renamed"), ThreadId("moved")));
  EXPECT_TRUE(index.compare(index.entries()).ok());
}

TEST_F(SessionIndexTest, RefusesAnEntryThatOthersCannotReadAndWritesNothing) {
  EXPECT_THROW(index.append({named("a", "fine"), named("b", "\xFF")}), Error);
  EXPECT_THROW(index.append(named("", "x")), Error);
  EXPECT_THAT(index.entries(), ElementsAre());
}

TEST_F(SessionIndexTest, ReadsTheFilesOfTheFormatsFirstProgram) {
  for (const char* version : {"original-v4", "original-v5"}) {
    write_file(file, read_file(test::fixture(string(version) + "/session_index.jsonl")));
    EXPECT_EQ(index.stats().lines, 46) << version;
    EXPECT_EQ(index.stats().skipped_lines, 0) << version;
    EXPECT_EQ(index.stats().threads, 5) << version;
    EXPECT_EQ(index.find(ThreadId("thread-linear"))->thread_name, "Fix the parser");
    EXPECT_EQ(index.find_path_by_name("RÉSUMÉ 🐳 海豚"),
              "/home/ada/.codewhale/rollouts/thread-branches.jsonl");
    EXPECT_EQ(index.find(ThreadId("thread-empty"))->thread_name, std::nullopt);
    EXPECT_EQ(index.find_path_by_name("gone"),
              "/home/ada/.codewhale/rollouts/thread-deleted.jsonl");
    EXPECT_THAT(ids_named("fix the parser"), ElementsAre("thread-linear"));
    EXPECT_THAT(ids_named("Fix the parser (rev 39)"), ElementsAre());
  }
}

}  // namespace
}  // namespace threadstore
