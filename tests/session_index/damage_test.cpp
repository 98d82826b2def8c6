// What a crash, a full disk or another program leaves in the index: a bad line costs itself only.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temp_dir.h"
#include "threadstore/error.h"
#include "threadstore/logging.h"
#include "threadstore/session_index.h"

namespace threadstore {
namespace {

using std::string;
using test::read_file;
using test::TempDir;
using test::write_file;

string line(const string& id) {
  return R"({"thread_id":")" + id + R"(","thread_name":"name of )" + id +
         R"(","updated_at":1,"rollout_path":null})";
}

IndexEntry entry(const string& id) {
  return {.thread_id = ThreadId(id), .thread_name = "name of " + id, .updated_at = 1};
}

class SessionIndexDamageTest : public testing::Test {
 protected:
  SessionIndexDamageTest() {
    set_log_sink([this](LogLevel, const string& text) { warnings.push_back(text); });
  }
  ~SessionIndexDamageTest() override { set_log_sink({}); }

  std::vector<string> ids() const {
    std::vector<string> found;
    for (const IndexEntry& each : SessionIndex(file).entries())
      found.push_back(each.thread_id.str());
    std::sort(found.begin(), found.end());
    return found;
  }

  TempDir dir;
  std::filesystem::path file = dir / "session_index.jsonl";
  std::vector<string> warnings;
};

TEST_F(SessionIndexDamageTest, ABadLineCostsOnlyItself) {
  const string bad_lines[] = {
      R"({"thread_id":"x","thread_na)",
      string(512, '\0'),
      string(512, '\0') + line("x"),
      "{\"thread_id\":\"x\",\"thread_name\":\"\xFF\",\"updated_at\":1,\"rollout_path\":null}",
      "\xEF\xBB\xBF" + line("x"),
      line("x") + line("y"),
      string(100'000, '['),
      "null",
      "\r",
  };
  for (const string& bad : bad_lines) {
    for (const string& text : {bad + "\n" + line("a") + "\n" + line("b") + "\n",
                               line("a") + "\n" + bad + "\n" + line("b") + "\n",
                               line("a") + "\n" + line("b") + "\n" + bad + "\n",
                               line("a") + "\n" + line("b") + "\n" + bad}) {
      write_file(file, text);
      EXPECT_THAT(ids(), testing::ElementsAre("a", "b")) << bad.substr(0, 80);
      SessionIndex(file).append(entry("c"));
      EXPECT_THAT(ids(), testing::ElementsAre("a", "b", "c")) << bad.substr(0, 80);
    }
  }
}

TEST_F(SessionIndexDamageTest, UnicodeLineEndsAreData) {
  IndexEntry odd = entry("a");
  odd.thread_name = "one\u2028two\u2029three\u0085four\rfive\vsix";
  SessionIndex(file).append(odd);
  SessionIndex(file).append(entry("b"));
  EXPECT_EQ(SessionIndex(file).find(ThreadId("a")), odd);
  write_file(file, R"({"thread_id":"u","thread_name":"x)"
                   "\u2028"
                   R"(y","updated_at":1})"
                   "\r\n" +
                       line("b") + "\r\n");
  EXPECT_EQ(SessionIndex(file).find(ThreadId("u"))->thread_name, "x\u2028y");
  EXPECT_THAT(ids(), testing::ElementsAre("b", "u"));
}

TEST_F(SessionIndexDamageTest, ATornTailIsClosedBeforeTheNextEntry) {
  write_file(file, line("a") + "\n" + R"({"thread_id":"x","thread_na)");
  SessionIndex(file).append({entry("b"), entry("c")});
  EXPECT_EQ(read_file(file), line("a") + "\n" +
                                 R"({"thread_id":"x","thread_na)"
                                 "\n" +
                                 line("b") + "\n" + line("c") + "\n");
}

TEST_F(SessionIndexDamageTest, AWholeTailWithoutNewlineIsNotLost) {
  write_file(file, line("a"));
  EXPECT_THAT(ids(), testing::ElementsAre());
  SessionIndex(file).append(entry("b"));
  EXPECT_THAT(ids(), testing::ElementsAre("a", "b"));
}

TEST_F(SessionIndexDamageTest, SkippedLinesAreWarnedOfOncePerFile) {
  write_file(file, line("a") + "\nbad\n\n  \nworse\n");
  SessionIndex index(file);
  EXPECT_EQ(index.stats().skipped_lines, 2);
  index.append(entry("b"));
  index.entries();
  EXPECT_THAT(ids(), testing::ElementsAre("a", "b"));
  EXPECT_THAT(warnings, testing::ElementsAre("2 unreadable line(s) of " + file.string() +
                                             " skipped; the first is line 2: the line is not valid "
                                             "JSON: unexpected character at byte 0"));
}

TEST_F(SessionIndexDamageTest, HostileIdsAndNamesAreOnlyText) {
  std::vector<IndexEntry> hostile;
  for (const string& text :
       {string("../../etc/passwd"), string("a\nb"), string("{\"thread_id\":\"z\"}"),
        string("x\0y", 3), string("\x1b[31m"), string(300'000, 'n')}) {
    hostile.push_back({.thread_id = ThreadId(text), .thread_name = text, .rollout_path = text});
  }
  SessionIndex index(file);
  index.append(hostile);
  for (const IndexEntry& each : hostile) {
    EXPECT_EQ(index.find(each.thread_id), each);
    EXPECT_EQ(index.find_path_by_name(*each.thread_name), each.rollout_path);
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir.path()), {}), 2);
}

TEST_F(SessionIndexDamageTest, SomethingElseUnderItsNameIsAnError) {
  std::filesystem::create_directory(file);
  EXPECT_THROW(SessionIndex(file).entries(), Error);
  EXPECT_THROW(SessionIndex(file).append(entry("a")), Error);
}

}  // namespace
}  // namespace threadstore
