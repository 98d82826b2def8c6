#include <gmock/gmock.h>

#include "tests/exchange/import_support.h"

namespace threadstore {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ImportClaudeTest : public test::ImportTest {
 protected:
  static constexpr const char* session = "0c0ffee0-0000-4000-8000-000000000001";
  const ThreadId thread_{session};

  /// A line of a transcript; `rest` are further members.
  static std::string line(const std::string& type, const std::string& uuid,
                          const std::string& parent, const std::string& rest,
                          const std::string& of = session) {
    return R"({"type":")" + type + R"(","uuid":")" + uuid + R"(","parentUuid":)" +
           (parent.empty() ? "null" : "\"" + parent + "\"") +
           R"(,"timestamp":"2026-03-01T10:00:00.000Z","sessionId":")" + of +
           R"(","cwd":"/w/demo","version":"2.1.0","gitBranch":"main",)" + rest + "}\n";
  }
  static std::string user(const std::string& uuid, const std::string& parent,
                          const std::string& text, const std::string& more = "",
                          const std::string& of = session) {
    return line("user", uuid, parent,
                more + R"("message":{"role":"user","content":")" + text + R"("})", of);
  }
  static std::string assistant(const std::string& uuid, const std::string& parent,
                               const std::string& blocks, const std::string& more = "",
                               const std::string& of = session) {
    return line("assistant", uuid, parent,
                more + R"("message":{"id":"m1","role":"assistant","content":[)" + blocks + "]}",
                of);
  }
  static std::string text(const std::string& words) {
    return R"({"type":"text","text":")" + words + R"("})";
  }
};

TEST_F(ImportClaudeTest, ATranscriptBecomesABranchWithItsTools) {
  const std::string call =
      R"({"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}})";
  const std::string result =
      line("user", "u4", "u3",
           R"("message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1",)"
           R"("content":[{"type":"text","text":"a.txt"}]}]})");
  const ImportReport report = import_text(
      "c.jsonl", R"({"type":"summary","summary":"an old summary","leafUuid":"u9"})"
                 "\n" +
                     user("u1", "", "list files") + assistant("u2", "u1", text("I look.")) +
                     assistant("u3", "u2", call) + result + assistant("u5", "u4", text("One.")) +
                     R"({"type":"custom-title","customTitle":"demo","sessionId":"s"})"
                     "\n");
  EXPECT_THAT(test::whys(report), IsEmpty());
  EXPECT_THAT(texts(thread_, "user"), ElementsAre("list files"));
  EXPECT_THAT(texts(thread_, "assistant"), ElementsAre("I look.", "One."));
  EXPECT_THAT(texts(thread_, "tool"), ElementsAre("a.txt"));
  const auto messages = branch(thread_);
  ASSERT_EQ(messages.size(), 5u);
  EXPECT_EQ(*messages[3].item + "\n", result);
  const Thread thread = store_.threads().get(thread_);
  EXPECT_EQ(thread.name, "demo");
  EXPECT_EQ(thread.cwd, "/w/demo");
  EXPECT_EQ(thread.git_branch, "main");
  EXPECT_EQ(thread.cli_version, "2.1.0");
  EXPECT_EQ(thread.preview, "list files");
}

TEST_F(ImportClaudeTest, ARewindAndASidechainAreBranches) {
  import_text("c.jsonl",
              user("u1", "", "first") + assistant("a1", "u1", text("one")) +
                  user("u2", "a1", "dropped") + assistant("a2", "u2", text("gone")) +
                  user("u3", "a1", "instead") + assistant("a3", "u3", text("two")) +
                  user("s1", "", "for the agent", R"("isSidechain":true,)") +
                  assistant("s2", "s1", text("agent's answer"), R"("isSidechain":true,)"));
  EXPECT_THAT(texts(thread_, "user"), ElementsAre("first", "instead"));
  EXPECT_EQ(store_.messages().leaves(thread_).size(), 3u);
}

TEST_F(ImportClaudeTest, ProgressIsPassedOverAndACompactionBridged) {
  const ImportReport report = import_text(
      "c.jsonl", user("u1", "", "q") + line("progress", "p1", "u1", R"("data":1)") +
                     line("progress", "p2", "p1", R"("data":2)") +
                     assistant("a1", "p2", text("a")) +
                     line("system", "b1", "",
                          R"("subtype":"compact_boundary","content":"Conversation compacted",)"
                          R"("logicalParentUuid":"a1")") +
                     user("u2", "b1", "the summary", R"("isCompactSummary":true,)") +
                     user("u3", "u2", "go on"));
  EXPECT_THAT(test::whys(report), IsEmpty());
  EXPECT_THAT(texts(thread_, "user"), ElementsAre("q", "go on"));
  EXPECT_THAT(texts(thread_, "system"), ElementsAre("Conversation compacted", "the summary"));
  EXPECT_EQ(branch(thread_).size(), 5u);
}

TEST_F(ImportClaudeTest, AMissingParentIsReportedAndItsChildKept) {
  const ImportReport report =
      import_text("c.jsonl", user("u1", "", "q") + user("u2", "lost", "orphan"));
  ASSERT_EQ(report.skipped_total, 1);
  EXPECT_EQ(report.skipped[0].line, 2);
  EXPECT_THAT(report.skipped[0].why, HasSubstr("missing"));
  EXPECT_EQ(store_.messages().count(thread_), 2);
}

TEST_F(ImportClaudeTest, AForkSharesWhatItCopied) {
  const std::string fork = "0c0ffee0-0000-4000-8000-000000000002";
  const auto copied = [](const std::string& uuid) {
    return R"("forkedFrom":{"sessionId":")" + std::string(session) + R"(","messageUuid":")" + uuid +
           R"("},)";
  };
  const std::string source =
      user("u1", "", "q") + assistant("a1", "u1", text("a")) + user("u2", "a1", "only there");
  const std::string copy = user("f1", "", "q", copied("u1"), fork) +
                           assistant("f2", "f1", text("a"), copied("a1"), fork) +
                           user("f3", "f2", "only here", "", fork);
  test::write_file(dir_ / "z-source.jsonl", source);
  test::write_file(dir_ / "a-fork.jsonl", copy);
  const ImportReport report = import({dir_ / "a-fork.jsonl", dir_ / "z-source.jsonl"});
  EXPECT_THAT(test::whys(report), IsEmpty());
  EXPECT_EQ(report.messages, 4);
  EXPECT_EQ(store_.threads().get(ThreadId(fork)).forked_from->thread_id, thread_);
  EXPECT_THAT(texts(ThreadId(fork), "user"), ElementsAre("q", "only here"));
  const ImportReport again =
      import_text("a-fork.jsonl", copy + user("f4", "f2", "a branch of the copy", "", fork));
  EXPECT_EQ(again.messages, 1);
  EXPECT_THAT(texts(ThreadId(fork), "user"), ElementsAre("q", "a branch of the copy"));
}

TEST_F(ImportClaudeTest, AGeminiChatIsNotTakenForATranscript) {
  EXPECT_THROW(
      import_text("g.jsonl", R"({"sessionId":"s","projectHash":"h","type":"user","uuid":"u"})"
                             "\n"),
      Error);
}

}  // namespace
}  // namespace threadstore
