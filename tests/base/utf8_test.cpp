#include "base/utf8.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "threadstore/messages.h"

namespace threadstore::base {
namespace {

TEST(Utf8Test, AcceptsEveryLengthAndTheEdges) {
  for (const std::string& text :
       {std::string(), std::string("ascii"), std::string("\0a", 2), std::string("é\u0080\u07FF"),
        std::string("\u0800\uFFFD\uD7FF"), std::string("\U00010000\U0010FFFF🐳")}) {
    EXPECT_EQ(find_invalid_utf8(text), std::nullopt) << text;
  }
}

TEST(Utf8Test, FindsTheFirstInvalidByte) {
  const std::pair<std::string, std::size_t> cases[] = {
      {"\x80", 0},              // a continuation byte alone
      {"abc\xC0\xAF", 3},       // overlong
      {"\xE0\x80\x80", 0},      // overlong
      {"\xED\xA0\x80", 0},      // a surrogate
      {"\xF4\x90\x80\x80", 0},  // above U+10FFFF
      {"é\xFF", 2},
      {"0123456789abcdef\xE2\x82", 16},  // torn at the end
      {"a\xE2(\xA1", 1},
  };
  for (const auto& [text, offset] : cases) EXPECT_EQ(find_invalid_utf8(text), offset) << text;
}

TEST(Utf8Test, ReplacesEachBrokenSequenceOnce) {
  std::size_t replaced = 0;
  EXPECT_EQ(to_valid_utf8("a\xE2\x82z\xFF\xFE é\xF0\x9F", &replaced),
            "a\uFFFDz\uFFFD\uFFFD é\uFFFD");
  EXPECT_EQ(replaced, 4U);
  EXPECT_EQ(to_valid_utf8("fine 🐳", &replaced), "fine 🐳");
  EXPECT_EQ(replaced, 0U);
}

TEST(Utf8Test, CutsBetweenCodePoints) {
  EXPECT_EQ(cut_to_bytes("a🐳b", 1), "a");
  EXPECT_EQ(cut_to_bytes("a🐳b", 4), "a");
  EXPECT_EQ(cut_to_bytes("a🐳b", 5), "a🐳");
  EXPECT_EQ(cut_to_bytes("🐳", 0), "");
  EXPECT_EQ(cut_to_bytes("\x80\x80\x80\x80\x80\x80", 5), "\x80\x80\x80\x80\x80");
  EXPECT_EQ(cut_to_code_points("a🐳é", 2), "a🐳");
  EXPECT_EQ(cut_to_code_points("a🐳é", 9), "a🐳é");
  EXPECT_EQ(count_code_points("a🐳é\xFF"), 4U);
}

}  // namespace
}  // namespace threadstore::base
