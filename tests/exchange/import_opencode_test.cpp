#include <gmock/gmock.h>

#include <set>

#include "tests/exchange/import_support.h"

namespace threadstore {
namespace {

using nlohmann::json;
using test::item_of;
using ::testing::IsEmpty;
using Texts = std::vector<std::string>;

class ImportOpencodeTest : public test::ImportTest {
 protected:
  const Path folder_ = test::fixture("peers") / "opencode";

  /// A copy, so that the fixture's folder stays as it is.
  Path database() {
    const Path copy = dir_ / "opencode.db";
    if (!std::filesystem::exists(copy)) {
      std::filesystem::copy_file(folder_ / "opencode.db", copy);
    }
    return copy;
  }

  std::optional<Thread> thread_of(const std::string& session) const {
    for (const Thread& thread :
         store_.threads().list({.archived = ArchivedFilter::all, .limit = 1000}).items) {
      const auto messages = all(thread.id);
      if (!messages.empty() && item_of(messages[0])["id"] == session) return thread;
    }
    return std::nullopt;
  }

  /// The session in the words of the ground truth: of all its messages, hidden ones too.
  json described(const Thread& thread) const {
    json found{{"id", item_of(all(thread.id)[0])["id"]},
               {"title", thread.name.value_or("")},
               {"archived", thread.archived},
               {"user", json::array()},
               {"assistant", json::array()},
               {"tools", json::array()},
               {"errors", json::array()},
               {"compactions", 0},
               {"unfinished", json::array()}};
    for (const Message& message : all(thread.id)) {
      const json item = item_of(message);
      if (!item.contains("info")) continue;
      found[message.role].push_back(message.content);
      const json& info = item["info"];
      if (info.contains("error")) found["errors"].push_back(info["error"]["name"]);
      const bool ended = info["time"].contains("completed") || info.contains("error");
      if (message.role == "assistant" && !ended) found["unfinished"].push_back(info["id"]);
      for (const json& part : item["parts"]) {
        if (part["type"] == "tool") {
          found["tools"].push_back({part["tool"], part["state"]["status"]});
        }
        if (part["type"] == "compaction")
          found["compactions"] = found["compactions"].get<int>() + 1;
      }
    }
    return found;
  }

  void expect_truth() {
    for (json truth : test::read_ground_truth("opencode")) {
      SCOPED_TRACE(truth["id"].get<std::string>());
      const auto thread = thread_of(truth["id"]);
      ASSERT_TRUE(thread.has_value());
      const json header = item_of(all(thread->id)[0]);
      EXPECT_EQ(header.value("parentID", json()), truth["parent_id"]);
      EXPECT_EQ(header.value("revert", json()), truth["revert"]);
      EXPECT_EQ(thread->cwd, "/home/ada/demo");
      const bool reverted = !truth["revert"].is_null();
      EXPECT_EQ(store_.messages().leaves(thread->id).size(), 1u);
      EXPECT_EQ(branch(thread->id).size(), all(thread->id).size() - (reverted ? 2 : 0))
          << "what a pending revert hides lies behind the active tip";
      truth.erase("parent_id");
      truth.erase("revert");
      EXPECT_EQ(described(*thread), truth);
    }
  }
};

TEST_F(ImportOpencodeTest, TheDatabaseIsWhatItsGroundTruthSays) {
  const ImportReport report = import({database()});
  EXPECT_THAT(test::whys(report), IsEmpty());
  EXPECT_EQ(report.threads, 19);
  expect_truth();
}

TEST_F(ImportOpencodeTest, TheExportsAreWhatTheirGroundTruthSays) {
  const ImportReport report = import({folder_ / "export"});
  EXPECT_THAT(test::whys(report), IsEmpty());
  EXPECT_EQ(report.files, 19);
  expect_truth();
}

TEST_F(ImportOpencodeTest, DatabaseAndExportsAreTheSame) {
  const ImportReport first = import({database()});
  const ImportReport second = import({folder_ / "export", database()});
  EXPECT_EQ(second.threads, 0);
  EXPECT_EQ(second.messages, 0);
  EXPECT_EQ(second.already_present, 2 * (first.messages - first.threads));
}

TEST_F(ImportOpencodeTest, AnAnswerThatEndsLaterIsKeptBesideItsBeginning) {
  const auto session = [](const std::string& answer) {
    return R"({"info":{"id":"ses_1","title":"t","time":{"created":1000}},"messages":[)"
           R"({"info":{"id":"m1","role":"user","time":{"created":1000}},"parts":[]},)"
           R"({"info":{"id":"m2","role":"assistant","time":{)" +
           answer + "]}]}";
  };
  import_text("o.json", session(R"("created":2000}},"parts":[{"type":"text","text":"beg"})"));
  const ImportReport report = import_text(
      "o.json",
      session(R"("created":2000,"completed":3000}},"parts":[{"type":"text","text":"begun"})"));
  EXPECT_EQ(report.messages, 1);
  const Thread thread = store_.threads().list().items.at(0);
  EXPECT_EQ(branch(thread.id).back().content, "begun");
  EXPECT_EQ(store_.messages().leaves(thread.id).size(), 2u);
}

TEST_F(ImportOpencodeTest, ACutExportGivesWhatCanBeRead) {
  const std::string whole = test::read_file(folder_ / "export/ses_dd8959888ffegLoPOXs2FfvJQr.json");
  const ImportReport report = import_text("cut.json", whole.substr(0, whole.size() / 2));
  EXPECT_EQ(report.skipped_total, 1);
  EXPECT_EQ(report.threads, 1);
  EXPECT_GT(report.messages, 20);
}

}  // namespace
}  // namespace threadstore
