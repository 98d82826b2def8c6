#include <gmock/gmock.h>

#include <map>

#include "tests/exchange/import_support.h"

namespace threadstore {
namespace {

using nlohmann::json;
using test::item_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Texts = std::vector<std::string>;

class ImportCodexTest : public test::ImportTest {
 protected:
  const Path peers_ = test::fixture("peers") / "codex";

  /// What the ground truth counts, of the messages that the file itself brought.
  json counted(const json& truth, const Texts& types_of_calls) const {
    const ThreadId thread(truth["thread_id"].get<std::string>());
    const auto origin = store_.threads().get(thread).forked_from;
    const bool own_only = !truth["history_base"].is_null() && origin && origin->message_id;
    int calls = 0, reasoning = 0, compactions = 0, failed = 0, repeated = 0;
    std::map<std::string, int> open;
    std::map<std::string, int> seen;
    for (const Message& message : all(thread)) {
      if (own_only && message.id <= *origin->message_id) continue;
      const json item = item_of(message);
      const std::string type = item.value("type", "");
      const bool call =
          std::find(types_of_calls.begin(), types_of_calls.end(), type) != types_of_calls.end();
      if (call) {
        ++calls;
        ++open[item["call_id"]];
        repeated += ++seen[item["call_id"]] == 2 ? 1 : 0;
      }
      if (type == "function_call_output" || type == "custom_tool_call_output") {
        --open[item["call_id"]];
      }
      reasoning += type == "reasoning" ? 1 : 0;
      compactions += type == "compacted" ? 1 : 0;
      failed += message.content.starts_with("turn failed") ? 1 : 0;
    }
    json without_output = json::array();
    for (const auto& [id, count] : open) {
      if (count > 0) without_output.push_back(id);
    }
    return {{"tool_calls", calls},           {"tool_calls_without_output", without_output},
            {"repeated_call_ids", repeated}, {"reasoning", reasoning},
            {"compactions", compactions},    {"turns_with_error", failed}};
  }

  /// The tip of the branch that the file ends with.
  std::optional<MessageId> tip_of(const json& truth) const {
    const ThreadId thread(truth["thread_id"].get<std::string>());
    if (!truth["superseded_by_revert"]) return store_.threads().get(thread).current_leaf_id;
    const auto leaves = store_.messages().leaves(thread);
    for (const Message& leaf : leaves) {
      if (leaf.id != store_.threads().get(thread).current_leaf_id) return leaf.id;
    }
    return std::nullopt;
  }

  void expect_truth(const json& truth) {
    SCOPED_TRACE(truth["file"].get<std::string>());
    const ThreadId id(truth["thread_id"].get<std::string>());
    const auto thread = store_.threads().find(id);
    ASSERT_TRUE(thread.has_value());
    const auto wanted = [&](const std::string& role) {
      const auto effective = truth.find("effective_" + role);
      Texts texts =
          effective != truth.end() ? effective->get<Texts>() : truth["own_" + role].get<Texts>();
      std::erase(texts, "<<BASE MISSING>>");
      return texts;
    };
    EXPECT_EQ(texts(id, "user", tip_of(truth)), wanted("user"));
    EXPECT_EQ(texts(id, "assistant", tip_of(truth)), wanted("assistant"));
    EXPECT_EQ(thread->name.value_or(""),
              truth["name"].is_null() ? "" : truth["name"].get<std::string>());
    EXPECT_EQ(thread->archived, truth["archived"].get<bool>());
    EXPECT_EQ(thread->cli_version, truth["cli_version"].get<std::string>());
    EXPECT_EQ(thread->cwd, "/home/ada/demo");
    EXPECT_EQ(thread->git_branch, "main");
    json expected;
    const json found = counted(truth, {"function_call", "custom_tool_call", "local_shell_call"});
    for (const auto& [name, value] : found.items()) expected[name] = truth[name];
    EXPECT_EQ(found, expected);
  }
};

TEST_F(ImportCodexTest, HomesAreWhatTheirGroundTruthSays) {
  const ImportReport report =
      import({peers_ / "home-0.171.0", peers_ / "home-0.42.0", peers_ / "zst"});
  EXPECT_THAT(test::whys(report), IsEmpty());
  std::int64_t files = 0;
  for (const json& truth : test::read_ground_truth("codex")) {
    const std::string file = truth["file"];
    if (file.starts_with("damaged/")) continue;
    ++files;
    expect_truth(truth);
    const ThreadId id(truth["thread_id"].get<std::string>());
    const auto origin = store_.threads().get(id).forked_from;
    const std::string from = origin ? origin->thread_id.str() : "";
    EXPECT_EQ(from, truth["forked_from"].is_null() ? "" : truth["forked_from"].get<std::string>())
        << file;
  }
  EXPECT_EQ(report.files, files);
  EXPECT_EQ(report.threads, files - 1) << "a reverted thread has two files";
  EXPECT_EQ(report.not_histories, 3) << "history.jsonl, session_index.jsonl, state_5.sqlite";
  EXPECT_EQ(store_.verify_index().ok(), true);
}

TEST_F(ImportCodexTest, ASecondImportAddsNothing) {
  const std::vector<Path> homes{peers_ / "home-0.171.0", peers_ / "home-0.42.0", peers_ / "zst"};
  const ImportReport first = import(homes);
  const auto leaf_of = [&](const ThreadId& id) { return store_.threads().get(id).current_leaf_id; };
  std::map<ThreadId, std::optional<MessageId>> leaves;
  for (const Thread& thread : store_.threads().list({.archived = ArchivedFilter::all}).items) {
    leaves[thread.id] = leaf_of(thread.id);
  }
  const MessageId newest = store_.messages().newest_id();
  const ImportReport second = import(homes);
  EXPECT_EQ(second.threads, 0);
  EXPECT_EQ(second.grown, 0);
  EXPECT_EQ(second.messages, 0);
  EXPECT_GE(second.already_present, first.messages - first.threads) << "headers are not counted";
  EXPECT_THAT(test::whys(second), IsEmpty());
  EXPECT_EQ(store_.messages().newest_id(), newest);
  for (const auto& [id, leaf] : leaves) EXPECT_EQ(leaf_of(id), leaf);
}

TEST_F(ImportCodexTest, DamagedFilesLoseOnlyTheirBadLines) {
  for (const json& truth : test::read_ground_truth("codex")) {
    const std::string file = truth["file"];
    if (!file.starts_with("damaged/")) continue;
    const test::TempDir dir;
    store_ = StateStore::open(dir / "state.db");
    const ImportReport report = import({peers_ / file});
    expect_truth(truth);
    const bool base_missing = file.find("base-missing") != std::string::npos;
    EXPECT_EQ(report.skipped_total, truth["bad_lines"].get<int>() + (base_missing ? 1 : 0)) << file;
    if (truth["bad_lines"] == 1) {
      EXPECT_EQ(report.skipped[0].line, 24);
      EXPECT_THAT(report.skipped[0].why, HasSubstr("not valid JSON"));
      EXPECT_EQ(report.skipped[0].file, peers_ / file);
    }
  }
}

TEST_F(ImportCodexTest, AGrownSessionBringsOnlyWhatIsNew) {
  import({peers_ / "damaged/torn-tail.jsonl"});
  const ThreadId id("01a22762-69ca-7530-8a43-9e7de1e03539");
  const std::int64_t before = store_.messages().count(id);
  const ImportReport report = import({peers_ / "damaged/torn-tail-resumed.jsonl"});
  EXPECT_EQ(report.threads, 0);
  EXPECT_EQ(report.grown, 1);
  EXPECT_EQ(report.messages, store_.messages().count(id) - before);
  EXPECT_THAT(texts(id, "user"), ElementsAre("torn one", "torn two", "torn three"));
  EXPECT_EQ(store_.messages().leaves(id).size(), 1u);
}

TEST_F(ImportCodexTest, ABranchThatWasContinuedHereStaysTheActiveOne) {
  import({peers_ / "damaged/torn-tail.jsonl"});
  const ThreadId id("01a22762-69ca-7530-8a43-9e7de1e03539");
  const MessageId mine = store_.messages().append(id, {.role = "user", .content = "typed here"}).id;
  import({peers_ / "damaged/torn-tail-resumed.jsonl"});
  EXPECT_EQ(store_.threads().get(id).current_leaf_id, mine);
  EXPECT_EQ(store_.messages().leaves(id).size(), 2u);
}

TEST_F(ImportCodexTest, AForkBringsItsBaseFromTheSameHome) {
  const Path fork = peers_ /
                    "home-0.171.0/sessions/2026/11/29/"
                    "rollout-2026-11-29T12-55-46-01a22760-3553-79a0-87a1-f82ecde4fae9.jsonl";
  const ImportReport report = import({fork});
  EXPECT_THAT(test::whys(report), IsEmpty());
  EXPECT_EQ(report.files, 3);
  EXPECT_THAT(texts(ThreadId("01a22760-3553-79a0-87a1-f82ecde4fae9"), "user"),
              ElementsAre("Base turn one", "Fork A after turn one", "Fork of the fork"));
}

/// A rollout line.
std::string line(const std::string& type, const std::string& payload) {
  return R"({"timestamp":"2026-03-01T10:00:02.500Z","type":")" + type + R"(","payload":)" +
         payload + "}\n";
}
std::string meta(const std::string& id) {
  return line("session_meta",
              R"({"id":")" + id + R"(","timestamp":"2026-03-01T10:00:00.000Z","cwd":"/w"})");
}
std::string input(const std::string& text) {
  return line("response_item", R"({"type":"message","role":"user","content":[{"type":"input_text",)"
                               R"("text":")" +
                                   text + R"("}]})") +
         line("event_msg", R"({"type":"user_message","message":")" + text + R"("})");
}

TEST_F(ImportCodexTest, ARolledBackTurnStaysAsABranch) {
  import_text("r.jsonl", meta("thread-one") + input("first") + input("second") + input("third") +
                             line("event_msg", R"({"type":"thread_rolled_back","num_turns":2})") +
                             input("another"));
  const Thread thread = store_.threads().list().items.at(0);
  EXPECT_THAT(texts(thread.id, "user"), ElementsAre("first", "another"));
  ASSERT_EQ(store_.messages().leaves(thread.id).size(), 2u);
  EXPECT_THAT(texts(thread.id, "user", store_.messages().leaves(thread.id)[0].id),
              ElementsAre("first", "second", "third"));
}

TEST_F(ImportCodexTest, KeepsItemsByteForByteAndTimes) {
  const std::string call =
      R"({"type":"function_call","name":"shell","arguments":"{\"n\":1.0}","call_id":"c1","big":12345678901234567890123})";
  import_text("r.jsonl",
              meta("01990000-0000-7000-8000-000000000001") + line("response_item", call) +
                  line("response_item",
                       R"({"type":"function_call_output","call_id":"c1","output":"a.txt\n"})"));
  const auto messages = branch(ThreadId("01990000-0000-7000-8000-000000000001"));
  ASSERT_EQ(messages.size(), 3u);
  EXPECT_EQ(messages[1].item, call);
  EXPECT_EQ(messages[1].role, "assistant");
  EXPECT_EQ(messages[1].created_at, 1'772'359'202);
  EXPECT_EQ(messages[2].role, "tool");
  EXPECT_EQ(messages[2].content, "a.txt\n");
  const Thread thread = store_.threads().get(messages[0].thread_id);
  EXPECT_EQ(thread.created_at, 1'772'359'200);
  EXPECT_EQ(thread.updated_at, 1'772'359'202);
  EXPECT_EQ(thread.rollout_path, (dir_ / "r.jsonl").string());
}

TEST_F(ImportCodexTest, AnEventStandsInForATornItem) {
  const std::string torn = R"({"timestamp":"2026-03-01T10:00:03.000Z","type":"response_item","pay)";
  const std::string answer = line("event_msg", R"({"type":"agent_message","message":"answer"})");
  const std::string whole =
      line("response_item", R"({"type":"message","role":"assistant","content":[)"
                            R"({"type":"output_text","text":"answer"}]})");
  import_text("r.jsonl", meta("t1") + input("q") + answer + torn + "\n" + input("next"));
  const Thread thread = store_.threads().list().items.at(0);
  EXPECT_THAT(texts(thread.id, "assistant"), ElementsAre("answer"));
  // An import between the two lines, and one after both: the answer comes once.
  import_text("s.jsonl", meta("t2") + input("q") + answer);
  const ImportReport grown = import_text("s.jsonl", meta("t2") + input("q") + answer + whole);
  EXPECT_EQ(grown.messages, 0);
  EXPECT_EQ(import_text("s.jsonl", meta("t2") + input("q") + answer + whole + input("n")).messages,
            1);
}

}  // namespace
}  // namespace threadstore
