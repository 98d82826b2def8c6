#include "session_index/index_entry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "threadstore/error.h"

namespace threadstore::session_index {
namespace {

IndexEntry sample() {
  return {.thread_id = ThreadId("t-1"),
          .thread_name = "Résumé 🐳",
          .updated_at = 1770000600,
          .rollout_path = "/home/ada/a.jsonl"};
}

std::string without_newline(std::string line) {
  line.pop_back();
  return line;
}

TEST(IndexEntryTest, WritesExactlyTheFormatOfOtherPrograms) {
  EXPECT_EQ(format_line(sample()),
            "{\"thread_id\":\"t-1\",\"thread_name\":\"Résumé 🐳\",\"updated_at\":1770000600,"
            "\"rollout_path\":\"/home/ada/a.jsonl\"}\n");
  EXPECT_EQ(format_line({.thread_id = ThreadId("x"), .updated_at = 5, .deleted = true}),
            "{\"thread_id\":\"x\",\"thread_name\":null,\"updated_at\":5,\"rollout_path\":null,"
            "\"deleted\":true}\n");
}

TEST(IndexEntryTest, ReadsBackWhatItWrote) {
  std::vector<IndexEntry> entries(5, sample());
  entries[1].thread_name = "quotes \" and \\ and \n \x01 \u2028 \x7F";
  entries[2].thread_name.reset();
  entries[3] = {.thread_id = ThreadId("../\"\n"), .updated_at = -1, .deleted = true};
  entries[4].revived = true;
  for (const IndexEntry& entry : entries) {
    const std::string line = without_newline(format_line(entry));
    EXPECT_EQ(line.find('\n'), std::string::npos);
    EXPECT_EQ(parse_line(line), entry) << line;
  }
}

TEST(IndexEntryTest, ReadsTheFormWithIdAndRfc3339Times) {
  const auto read = [](const std::string& time) {
    return parse_line(R"({"id":"c-1","thread_name":"Name","updated_at":")" + time + "\"}");
  };
  const IndexEntry expected{
      .thread_id = ThreadId("c-1"), .thread_name = "Name", .updated_at = 1772359200};
  EXPECT_EQ(read("2026-03-01T10:00:00Z"), expected);
  EXPECT_EQ(read("2026-03-01T10:00:00.987654321z"), expected);
  EXPECT_EQ(read("2026-03-01T12:30:00+02:30"), expected);
  EXPECT_EQ(read("2026-02-28t23:00:00-11:00"), expected);
  for (const char* bad :
       {"", "2026-03-01", "2026-02-30T10:00:00Z", "2026-03-01T10:00:00", "2026-03-01T24:00:00Z",
        "2026-03-01T10:00:00.Z", "2026-03-01T10:00:00Zx"}) {
    EXPECT_EQ(read(bad), std::nullopt) << bad;
  }
}

TEST(IndexEntryTest, IgnoresOrderSpaceAndUnknownKeys) {
  const IndexEntry expected{.thread_id = ThreadId("a"), .thread_name = "n", .updated_at = 7};
  EXPECT_EQ(parse_line(" { \"updated_at\" : 7, \"color\":{\"x\":[1]}, \"thread_name\":\"\\u006e\","
                       "\"thread_id\":\"a\",\"id\":\"other\" } \r"),
            expected);
}

TEST(IndexEntryTest, SaysWhyALineIsNoEntry) {
  const std::pair<std::string, std::string> cases[] = {
      {"[]", "not a JSON object"},
      {"{}", "no thread id"},
      {R"({"thread_id":"","updated_at":1})", "no thread id"},
      {R"({"thread_id":5,"updated_at":1})", "no thread id"},
      {R"({"thread_id":"a"})", "no usable updated_at"},
      {R"({"thread_id":"a","updated_at":1.5})", "no usable updated_at"},
      {R"({"thread_id":"a","updated_at":9223372036854775808})", "no usable updated_at"},
      {R"({"thread_id":"a","updated_at":1,"thread_name":5})", "thread_name is not a string"},
      {R"({"thread_id":"a","updated_at":01})",
       "the line is not valid JSON: expected ',' or '}' in an object at byte 32"},
  };
  for (const auto& [line, expected] : cases) {
    std::string reason;
    EXPECT_EQ(parse_line(line, &reason), std::nullopt) << line;
    EXPECT_THAT(reason, testing::StartsWith(expected.substr(0, 60))) << line;
  }
}

TEST(IndexEntryTest, RefusesToWriteWhatOthersCannotRead) {
  EXPECT_THROW(format_line({.updated_at = 1}), Error);
  EXPECT_THROW(format_line({.thread_id = ThreadId("a\xFF")}), Error);
  EXPECT_THROW(format_line({.thread_id = ThreadId("a"), .thread_name = "\xC0\xAF"}), Error);
}

TEST(IndexEntryTest, ThePlainReaderNeverDisagreesWithJson) {
  const unsigned seed = 20260302;
  std::mt19937 random(seed);
  const std::string original = without_newline(format_line(sample()));
  const std::string alphabet = "{}\",:\\0123-nulx \x01\x80\xC3";
  int plain_lines = 0;
  for (int round = 0; round < 30'000; ++round) {
    std::string line = original;
    for (auto edits = random() % 3; edits > 0; --edits) {
      const std::size_t at = random() % line.size();
      if (random() % 2 == 0) {
        line[at] = alphabet[random() % alphabet.size()];
      } else {
        line.erase(at, 1);
      }
    }
    const auto plain = scan_plain_line(line);
    if (!plain) continue;
    ++plain_lines;
    // A leading space sends the same line through the JSON parser.
    const auto parsed = parse_line(" " + line);
    ASSERT_TRUE(parsed) << "seed " << seed << "\n" << line;
    ASSERT_EQ(parsed, parse_line(line)) << "seed " << seed << "\n" << line;
  }
  EXPECT_GT(plain_lines, 10'000);
}

}  // namespace
}  // namespace threadstore::session_index
