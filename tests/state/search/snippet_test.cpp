#include "state/search/snippet.h"

#include <gtest/gtest.h>

namespace threadstore::state {
namespace {

/// The snippet with its marks in brackets.
std::string marked(const std::string& content, const std::string& query,
                   const std::optional<std::string>& item = {}) {
  const Snippet snippet =
      make_snippet(SearchableMessage(content, item), ParsedQuery::parse(query).terms_to_mark());
  std::string text = snippet.text;
  for (auto mark = snippet.marks.rbegin(); mark != snippet.marks.rend(); ++mark) {
    text.insert(mark->offset + mark->length, "]");
    text.insert(mark->offset, "[");
  }
  return text;
}

TEST(SnippetTest, MarksEveryHitOnOneLine) {
  EXPECT_EQ(marked("The Parser\n\tfails; parser errors", "parser error NOT x"),
            "The [Parser] fails; [parser] [error]s");
}

TEST(SnippetTest, OverlappingHitsAreOneMark) {
  EXPECT_EQ(marked("tokenparser", "token enpar parser"), "[tokenparser]");
}

TEST(SnippetTest, ShowsWhatStandsAroundTheFirstHit) {
  const std::string text = std::string(100, 'a') + " hit " + std::string(200, 'b');
  EXPECT_EQ(marked(text, "hit"),
            "…" + std::string(49, 'a') + " [hit] " + std::string(106, 'b') + "…");
}

TEST(SnippetTest, CutsAtCharacters) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "語";
  const std::string snippet = marked(text + "検索", "検索");
  std::string expected = "…";
  for (int i = 0; i < 50; ++i) expected += "語";
  EXPECT_EQ(snippet, expected + "[検索]");
}

TEST(SnippetTest, MarksStayInPlaceWhereFoldingChangesTheLength) {
  EXPECT_EQ(marked("ȺȺȺ Word", "word"), "ȺȺȺ [Word]");
}

TEST(SnippetTest, LooksIntoTheItemWhenTheContentHasNoHit) {
  const std::string item =
      R"({"type":"tool","output":{"text":"exit \"code\" 7"},"encrypted_content":"zzz","n":[1,"last"]})";
  EXPECT_EQ(marked("ran it", "code", item), R"(exit "[code]" 7 last)");
}

TEST(SearchableTextTest, AnItemGivesItsTexts) {
  EXPECT_EQ(texts_of_item(R"({"type":"t","role":"r","a":["x",{"b":"y"}],"signature":"s","c":"z"})"),
            "x\ny\nz\n");
  EXPECT_EQ(texts_of_item("{broken"), "");
  EXPECT_EQ(texts_of_item("\"" + std::string(5000, 'A') + "\""), "");
  EXPECT_EQ(texts_of_item("\"text\""), "text\n");
}

TEST(SearchableTextTest, ControlCharactersAreWhiteSpace) {
  EXPECT_EQ(on_one_line(std::string_view("\n a\0b\x1b \t c\x7f", 11)), "a b c");
}

}  // namespace
}  // namespace threadstore::state
