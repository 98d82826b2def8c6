#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/terminal/code_point.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/style.h"
#include "cli/terminal/text.h"

namespace threadstore::cli {
namespace {

using testing::ElementsAre;

TEST(EscapeTest, ControlCharactersAreShownAndNotSent) {
  EXPECT_EQ(escape_for_terminal("a\x1b[31mb\x07\x7f"), "a\\x1b[31mb\\x07\\x7f");
}

TEST(EscapeTest, C1ControlsAreShown) { EXPECT_EQ(escape_for_terminal("\u009b31m"), "\\x9b31m"); }

TEST(EscapeTest, WhatReordersOrHidesTextIsShown) {
  EXPECT_EQ(escape_for_terminal("a\u202eb\u2028c\u2066d\ufeff\U000e0041"),
            "a\\u{202e}b\\u{2028}c\\u{2066}d\\u{feff}\\u{e0041}");
}

TEST(EscapeTest, BytesThatAreNoUtf8AreShown) {
  EXPECT_EQ(escape_for_terminal("\xff\xc3(\xe4\xb8\xed\xa0\x80\xc0\xaf"),
            "\\xff\\xc3(\\xe4\\xb8\\xed\\xa0\\x80\\xc0\\xaf");
}

TEST(EscapeTest, NulIsShown) { EXPECT_EQ(escape_for_terminal(std::string("a\0b", 3)), "a\\x00b"); }

TEST(EscapeTest, LineBreaksStayOnlyInMultipleLines) {
  EXPECT_EQ(escape_for_terminal("a\tb\r\nc\rd\n"), "a\\tb\\r\\nc\\rd\\n");
  EXPECT_EQ(escape_for_terminal("a\tb\r\nc\rd\n", Lines::multiple), "a\tb\nc\\rd\n");
}

TEST(EscapeTest, OtherTextIsUnchanged) {
  const std::string text = "déjà 中文 👩‍🚀 e\u0301 \\x1b";
  EXPECT_EQ(escape_for_terminal(text), text);
}

TEST(EscapedStreamTest, PiecesGiveWhatTheWholeGives) {
  const std::string text = "中\r\n\xf0\x9f\x98\x80\x1b\r \xe4\xb8";
  const std::string whole = escape_for_terminal(text, Lines::multiple);
  for (std::size_t size = 1; size < text.size(); ++size) {
    EscapedStream stream;
    std::string out;
    for (std::size_t at = 0; at < text.size(); at += size) {
      out += stream.feed(std::string_view(text).substr(at, size));
    }
    EXPECT_EQ(out + stream.finish(), whole) << "in pieces of " << size;
  }
}

TEST(DisplayWidthTest, WideIsTwoAndCombiningIsNothing) {
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("中文"), 4U);
  EXPECT_EQ(display_width("😀"), 2U);
  EXPECT_EQ(display_width("e\u0301"), 1U);
  EXPECT_EQ(display_width("ｗ"), 2U);
}

TEST(WrapTest, BreaksAtSpaces) {
  EXPECT_THAT(wrap("one two three", 8), ElementsAre("one two", "three"));
  EXPECT_THAT(wrap("one two", 7), ElementsAre("one two"));
  EXPECT_THAT(wrap("one  two ", 3), ElementsAre("one", "two"));
}

TEST(WrapTest, BreaksLongWordsBetweenCharacters) {
  EXPECT_THAT(wrap("abcdefgh", 3), ElementsAre("abc", "def", "gh"));
  EXPECT_THAT(wrap("中文字符", 5), ElementsAre("中文", "字符"));
  EXPECT_THAT(wrap("ae\u0301b", 2), ElementsAre("ae\u0301", "b"));
}

TEST(WrapTest, KeepsLineBreaksEmptyLinesAndIndentation) {
  EXPECT_THAT(wrap("a\n\n    b c\n", 8), ElementsAre("a", "", "    b c", ""));
}

TEST(WrapTest, KeepsTheIndentationOfALongLine) {
  EXPECT_THAT(wrap("    abcdef", 6), ElementsAre("    ab", "cdef"));
}

TEST(WrapTest, TabsGoToTheNextStop) {
  EXPECT_THAT(wrap("a\tb\n\tc", 80), ElementsAre("a       b", "        c"));
}

TEST(CutTest, EllipsisOnlyWhenItDoesNotFit) {
  EXPECT_EQ(cut_to_width("abcd", 4), "abcd");
  EXPECT_EQ(cut_to_width("abcde", 4), "abc…");
  EXPECT_EQ(cut_to_width("中文字", 4), "中…");
  EXPECT_EQ(cut_to_width("abc", 0), "");
}

TEST(CutTest, BytesAreCutBetweenCodePoints) {
  EXPECT_EQ(cut_at_code_point("a中文", 5), "a中");
  EXPECT_EQ(cut_at_code_point("a中文", 7), "a中文");
  EXPECT_EQ(cut_at_code_point("中", 2), "");
}

TEST(PadTest, FillsColumnsNotBytes) { EXPECT_EQ(pad_to_width("中", 4), "中  "); }

TEST(CodePointTest, ASequenceThatCanStillBecomeValidIsCut) {
  EXPECT_EQ(first_code_point("\xf0\x9f\x98").kind, CodePoint::Kind::cut);
  EXPECT_EQ(first_code_point("\xed\xa0").kind, CodePoint::Kind::invalid);
  EXPECT_EQ(first_code_point("\U0010ffff").value, char32_t{0x10FFFF});
}

TEST(StyleTest, ColorsOnlyWhenAsked) {
  EXPECT_EQ(Style::for_descriptor(ColorMode::never, 1).paint(Tone::bad, "x"), "x");
  EXPECT_EQ(Style::for_descriptor(ColorMode::always, 1).paint(Tone::bad, "x"), "\x1b[31mx\x1b[0m");
  EXPECT_FALSE(Style::for_descriptor(ColorMode::automatic, -1).colored());
}

TEST(ProgressBarTest, AFrameFitsItsWidth) {
  EXPECT_EQ(ProgressBar::frame("Deleting", 50, 100, 40),
            "Deleting [########         ] 50 % 50/100");
  EXPECT_LE(display_width(ProgressBar::frame("Deleting", 50, 100, 12)), 12U);
  EXPECT_EQ(ProgressBar::frame("Reading", 5, 0, 40), "Reading 5");
}

}  // namespace
}  // namespace threadstore::cli
