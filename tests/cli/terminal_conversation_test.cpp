#include <gtest/gtest.h>
#include <stdlib.h>
#include <time.h>

#include <sstream>
#include <string>

#include "cli/terminal/conversation.h"
#include "cli/terminal/item_summary.h"
#include "cli/terminal/local_time.h"

namespace threadstore::cli {
namespace {

constexpr UnixSeconds noon = 1'700'049'600;  // 2023-11-15T12:00:00Z

class ConversationTest : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("TZ", "UTC0", 1);
    ::tzset();
  }

  static Message message(std::int64_t id, const std::string& role, const std::string& content) {
    Message out;
    out.id = MessageId{id};
    out.role = role;
    out.content = content;
    out.created_at = noon;
    return out;
  }

  static std::string shown(const std::vector<Message>& messages, std::size_t width = 40) {
    std::ostringstream out;
    print_conversation(out, messages, {.width = width, .now = noon + 60});
    return out.str();
  }
};

TEST_F(ConversationTest, ShowsRoleIdTimeAndWrappedText) {
  EXPECT_EQ(
      shown({message(1, "user", "one two three four"), message(2, "assistant", "ok\n\nend\n")}, 16),
      "user #1  12:00\n"
      "  one two three\n"
      "  four\n"
      "\n"
      "assistant #2  12:00\n"
      "  ok\n"
      "\n"
      "  end\n");
}

TEST_F(ConversationTest, ControlCharactersOfRoleAndContentAreShown) {
  EXPECT_EQ(shown({message(1, "us\ner", "\x1b]0;title\x07")}),
            "us\\ner #1  12:00\n"
            "  \\x1b]0;title\\x07\n");
}

TEST_F(ConversationTest, AnItemIsSummedUpInOneLine) {
  Message call = message(3, "assistant", "");
  call.item = R"({"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\"]}"})";
  EXPECT_EQ(shown({call}, 80),
            "assistant #3  12:00\n"
            "  [function_call shell {\"command\":[\"ls\"]}]\n");
}

TEST_F(ConversationTest, DamageIsMarked) {
  Message damaged = message(4, "user", "text");
  damaged.checksum_mismatch = true;
  damaged.item = "{\"a";
  damaged.item_damaged = true;
  EXPECT_EQ(shown({damaged}, 0),
            "user #4  12:00  [damaged: these bytes are not those that were stored]\n"
            "  text\n"
            "  [damaged item: {\"a]\n");
}

TEST_F(ConversationTest, TimesAreShort) {
  EXPECT_EQ(short_local_time(noon, noon + 3600), "12:00");
  EXPECT_EQ(short_local_time(noon, noon + 86'400), "15 Nov 12:00");
  EXPECT_EQ(short_local_time(noon, noon + 100 * 86'400), "2023-11-15 12:00");
}

TEST(ItemSummaryTest, NamesWhatItIs) {
  EXPECT_EQ(item_summary(R"({"exit_status":3})", false), "exit status 3");
  const std::string output = R"({"type":"function_call_output","call_id":"c","output":"a.txt"})";
  EXPECT_EQ(item_summary(output, false, "a.txt"), "");
  EXPECT_EQ(item_summary(output, false, "other"), "function_call_output a.txt");
  EXPECT_EQ(item_summary(R"([{"type":"text","text":"hi"},{}])", false), "2 items: text hi");
  EXPECT_EQ(item_summary("[1,2,{\"k\":null}]", false), "3 items: [1,2,{\"k\":null}]");
  EXPECT_EQ(item_summary("[]", false), "[]");
  EXPECT_EQ(item_summary("17", false), "17");
  // Whole messages of Codex, pi, Claude Code and opencode: only what the text does not say.
  EXPECT_EQ(
      item_summary(R"({"type":"message","content":[{"type":"input_text","text":"hi"}]})", false),
      "");
  EXPECT_EQ(item_summary(R"({"type":"message","message":{"role":"assistant","content":[)"
                         R"({"type":"text","text":"I look"},)"
                         R"({"type":"toolCall","name":"bash","arguments":{"command":"ls"}}]}})",
                         false),
            R"(toolCall bash {"command":"ls"})");
  EXPECT_EQ(item_summary(R"({"type":"user","message":{"role":"user","content":"hi"}})", false), "");
  EXPECT_EQ(item_summary(R"({"info":{"role":"assistant"},"parts":[{"type":"tool","tool":"bash"}]})",
                         false),
            "tool bash");
}

TEST(ItemSummaryTest, StaysShort) {
  EXPECT_LT(item_summary("{\"type\":\"" + std::string(5000, 'x') + "\"}", false).size(), 300U);
  EXPECT_EQ(item_summary(std::string(2 << 20, ' '), false), "item of 2097152 bytes");
}

}  // namespace
}  // namespace threadstore::cli
