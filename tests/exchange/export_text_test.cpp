#include <nlohmann/json.hpp>

#include "exchange/message_parts.h"
#include "tests/exchange/export_fixture.h"
#include "threadstore/error.h"

namespace threadstore::test {
namespace {

using Json = nlohmann::json;

class ExportTest : public ExportFixture {
 protected:
  /// Two branches behind a tool call; the second one is followed.
  ThreadId branching() {
    const ThreadId id = thread("t1", {.name = "Plan the trip"});
    say(id, "user", "Where to?");
    const MessageId call = say(id, "assistant", "",
                               R"({"type":"function_call","name":"shell","arguments":)"
                               R"("{\"command\":[\"ls\"]}","call_id":"c1"})");
    say(id, "tool", "a.txt", R"({"type":"function_call_output","call_id":"c1","output":"a.txt"})");
    say(id, "assistant", "To the sea.");
    branch(id, call, "assistant", "To the *hills*.");
    return id;
  }

  std::vector<Json> lines(const std::string& text) {
    std::vector<Json> all;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) all.push_back(Json::parse(line));
    return all;
  }
};

TEST_F(ExportTest, MarkdownFollowsTheBranchAndNotesTheOthers) {
  EXPECT_EQ(exported(branching(), {.format = ExportFormat::markdown}), R"(# Plan the trip

- Thread `t1`, 2027-01-15 08:00 UTC to 2027-01-15 08:00 UTC
- Directory `/home/ada/demo`

### User · 2027-01-15 08:00 UTC · #1

Where to?

### Assistant · 2027-01-15 08:00 UTC · #2

**Tool call** `shell`

```json
{
  "command": [
    "ls"
  ]
}
```

> **2 branches go on from #2:** #3, #5 (followed here).

### Assistant · 2027-01-15 08:00 UTC · #5

To the *hills*.

)");
  EXPECT_EQ(last_.messages, 3);
}

TEST_F(ExportTest, MarkdownWritesAllBranchesWhenTold) {
  const std::string text =
      exported(branching(), {.format = ExportFormat::markdown, .all_branches = true});
  EXPECT_NE(text.find("## Another branch after #2\n\n### Tool"), std::string::npos) << text;
  EXPECT_NE(text.find("To the sea."), std::string::npos);
  EXPECT_EQ(last_.messages, 5);
}

TEST_F(ExportTest, MarkdownFollowsTheLeafThatIsAskedFor) {
  const ThreadId id = branching();
  const std::string text = exported(id, {.leaf = MessageId{4}});
  EXPECT_NE(text.find("To the sea."), std::string::npos);
  EXPECT_EQ(text.find("hills"), std::string::npos);
  EXPECT_THROW(exported(id, {.leaf = MessageId{99}}), Error);
}

TEST_F(ExportTest, MarkdownShowsControlCharactersAndClosesItsFences) {
  using namespace std::string_literals;
  const ThreadId id = thread("t1");
  say(id, "user", "bell \a, escape \x1b[31m, nul \0, next"s);
  say(id, "tool", "```\nfenced\n````");
  const std::string text = exported(id, {});
  EXPECT_NE(text.find("bell ␇, escape ␛[31m, nul ␀"), std::string::npos) << text;
  EXPECT_NE(text.find("`````\n```\nfenced\n````\n`````\n"), std::string::npos) << text;
}

TEST_F(ExportTest, AnEmptyThreadIsAnEmptyDocument) {
  const ThreadId id = thread("t1");
  EXPECT_NE(exported(id, {}).find("No messages."), std::string::npos);
  EXPECT_NE(exported(id, {.format = ExportFormat::html}).find("No messages."), std::string::npos);
  EXPECT_EQ(lines(exported(id, {.format = ExportFormat::json})).size(), 3);
  EXPECT_EQ(lines(exported(id, {.format = ExportFormat::codex})).size(), 1);
  EXPECT_EQ(lines(exported(id, {.format = ExportFormat::pi})).size(), 1);
}

TEST_F(ExportTest, CodexGetsOneBranchInItsOwnWords) {
  const auto all =
      lines(exported(branching(), {.format = ExportFormat::codex, .leaf = MessageId{4}}));
  std::vector<std::string> types;
  for (const Json& line : all) {
    EXPECT_EQ(line["timestamp"], "2027-01-15T08:00:00.000Z");
    types.push_back(line["type"].get<std::string>() + ' ' + line["payload"].value("type", ""));
  }
  EXPECT_EQ(types, (std::vector<std::string>{
                       "session_meta ", "response_item message", "event_msg user_message",
                       "response_item function_call", "response_item function_call_output",
                       "event_msg agent_message", "response_item message"}));
  EXPECT_EQ(all[0]["payload"]["history_mode"], "legacy");
  EXPECT_EQ(all[0]["payload"]["cwd"], "/home/ada/demo");
  EXPECT_EQ(all[0]["payload"]["id"].get<std::string>().size(), 36);
  EXPECT_EQ(all[1]["payload"]["content"],
            Json::parse(R"([{"type":"input_text","text":"Where to?"}])"));
  EXPECT_EQ(all[3]["payload"], Json::parse(R"({"type":"function_call","name":"shell",
    "arguments":"{\"command\":[\"ls\"]}","call_id":"c1"})"));
}

TEST_F(ExportTest, CodexItemsOfOtherProgramsAreTranslated) {
  const ThreadId id = thread("t1");
  say(id, "assistant", "Let me look.",
      R"({"role":"assistant","content":[{"type":"thinking","thinking":"hm"},
         {"type":"text","text":"Let me look."},
         {"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]})");
  say(id, "user", "",
      R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a.txt"}]})");
  std::vector<Json> payloads;
  for (const Json& line : lines(exported(id, {.format = ExportFormat::codex}))) {
    if (line["type"] == "response_item") payloads.push_back(line["payload"]);
  }
  ASSERT_EQ(payloads.size(), 4);
  EXPECT_EQ(payloads[0]["type"], "reasoning");
  EXPECT_EQ(payloads[1]["content"][0]["text"], "Let me look.");
  EXPECT_EQ(payloads[2]["name"], "Bash");
  EXPECT_EQ(payloads[2]["arguments"], R"({"command":"ls"})");
  EXPECT_EQ(payloads[2]["call_id"], "t1");
  EXPECT_EQ(payloads[3], Json::parse(R"({"type":"function_call_output","call_id":"t1",
                                         "output":"a.txt"})"));
}

TEST_F(ExportTest, PiGetsTheTreeWithTheFollowedBranchLast) {
  const ThreadId id = branching();
  const auto all = lines(exported(id, {.format = ExportFormat::pi, .leaf = MessageId{4}}));
  ASSERT_EQ(all.size(), 7);
  EXPECT_EQ(all[0]["type"], "session");
  EXPECT_EQ(all[0]["version"], 3);
  std::vector<std::string> tree;
  for (std::size_t i = 1; i < all.size(); ++i) {
    tree.push_back(
        all[i]["id"].get<std::string>().substr(7) + '<' +
        (all[i]["parentId"].is_null() ? "" : all[i]["parentId"].get<std::string>().substr(7)));
  }
  EXPECT_EQ(tree, (std::vector<std::string>{"1<", "2<1", "5<2", "3<2", "4<3", "6<4"}));
  EXPECT_EQ(all[2]["message"]["content"][0]["type"], "toolCall");
  EXPECT_EQ(all[2]["message"]["stopReason"], "toolUse");
  EXPECT_EQ(all[4]["message"]["role"], "toolResult");
  EXPECT_EQ(all[6], Json::parse(R"({"type":"session_info","id":"00000006","parentId":"00000004",
      "timestamp":"2027-01-15T08:00:00.000Z","name":"Plan the trip"})"));
}

TEST_F(ExportTest, PiStandsWhereTheThreadWasSetBackTo) {
  const ThreadId id = thread("t1");
  const MessageId first = say(id, "user", "one");
  say(id, "assistant", "two");
  store_.messages().set_current_leaf(id, first);
  const auto all = lines(exported(id, {.format = ExportFormat::pi}));
  EXPECT_EQ(all.back()["type"], "custom");
  EXPECT_EQ(all.back()["parentId"], "00000001");
}

TEST_F(ExportTest, EveryFormatIsRedacted) {
  const std::string secret = "ghp_" + std::string(36, 'a') + "1";
  const ThreadId id = thread("t1", {.name = "key " + secret, .cwd = "/srv/" + secret});
  say(id, "user", "my key is " + secret, R"({"type":"message","env":{"password":"hunter2"}})");
  say(id, "assistant", "",
      R"({"type":"function_call","name":"sh","call_id":"c","arguments":)"
      R"("{\"t\":\")" +
          secret + R"(\"}"})");
  store_.checkpoints().save(id, {.id = CheckpointId("c"), .state = R"({"k":")" + secret + R"("})"});
  store_.goals().set(id, {.objective = "keep " + secret});
  store_.tools().replace(id, {{.name = "t", .description = "uses " + secret}});
  for (const auto& [format, word] : EnumNames<ExportFormat>::table) {
    EXPECT_NE(exported(id, {.format = format}).find(secret), std::string::npos) << word;
    EXPECT_EQ(last_.redacted, 0) << word;
    const std::string text = exported(id, {.format = format, .redact = true});
    EXPECT_EQ(text.find(secret), std::string::npos) << word;
    EXPECT_EQ(text.find("hunter2"), std::string::npos) << word;
    EXPECT_GE(last_.redacted, 4) << word;
    if (format == ExportFormat::json || format == ExportFormat::codex ||
        format == ExportFormat::pi) {
      EXPECT_NO_THROW(lines(text)) << word;
    }
  }
}

TEST_F(ExportTest, PartsAreTheSameInEveryProgramsWords) {
  const auto parts = [](const std::string& role, const std::string& content,
                        const std::string& item) {
    Message message;
    message.role = role;
    message.content = content;
    message.item = item;
    return exchange::parts_of(message);
  };
  using exchange::Part;
  const Part call{Part::Kind::tool_call, R"({"command":"ls"})", "bash", "c1"};
  for (
      const char* item :
      {R"({"type":"function_call","name":"bash","arguments":"{\"command\":\"ls\"}","call_id":"c1"})",
       R"({"type":"response_item","payload":{"type":"function_call","name":"bash","arguments":"{\"command\":\"ls\"}","call_id":"c1"}})",
       R"([{"type":"tool_use","id":"c1","name":"bash","input":{"command":"ls"}}])",
       R"({"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"ls"}}]}})",
       R"({"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"bash","arguments":"{\"command\":\"ls\"}"}}]})"}) {
    EXPECT_EQ(parts("assistant", "", item), std::vector<Part>{call}) << item;
  }
  const Part text{Part::Kind::text, "hi"};
  EXPECT_EQ(parts("user", "hi", R"({"role":"user","content":[{"type":"text","text":"hi"}]})"),
            std::vector<Part>{text});
  EXPECT_EQ(parts("user", "hi", R"({"role":"user","content":"hi"})"), std::vector<Part>{text});
  EXPECT_EQ(parts("x", "hi", R"({"strange":1})").size(), 2);
  Message damaged;
  damaged.item = "{broken";
  damaged.item_damaged = true;
  EXPECT_EQ(exchange::parts_of(damaged).size(), 1);
}

}  // namespace
}  // namespace threadstore::test
