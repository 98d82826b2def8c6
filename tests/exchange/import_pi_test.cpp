#include <gmock/gmock.h>

#include <map>

#include "tests/exchange/import_support.h"

namespace threadstore {
namespace {

using nlohmann::json;
using test::item_of;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Texts = std::vector<std::string>;

class ImportPiTest : public test::ImportTest {
 protected:
  const Path home_ = test::fixture("peers") / "pi";

  /// The thread of a session: its id is kept where it is a UUID.
  ThreadId thread_of(const std::string& id) const {
    if (store_.threads().find(ThreadId(id))) return ThreadId(id);
    for (const Thread& thread : store_.threads().list({.limit = 1000}).items) {
      if (thread.rollout_path->find("_" + id + ".jsonl") != std::string::npos) return thread.id;
    }
    ADD_FAILURE() << "no thread of session " << id;
    return ThreadId("none");
  }

  static std::string entry_id(const Message& message) { return item_of(message).value("id", ""); }

  /// The texts that the ground truth lists: cut to 80 characters, empty ones included.
  Texts active(const ThreadId& thread, const std::string& role) const {
    Texts texts;
    for (const Message& message : branch(thread)) {
      if (message.role == role) texts.push_back(message.content);
    }
    return texts;
  }

  void expect_truth(const json& truth) {
    SCOPED_TRACE(truth["file"].get<std::string>());
    const ThreadId id = thread_of(truth["id"]);
    const Thread thread = store_.threads().get(id);
    const auto expect_texts = [&](const std::string& role) {
      const Texts wanted = truth["active_" + role];
      const Texts found = active(id, role);
      ASSERT_EQ(found.size(), wanted.size()) << role;
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        EXPECT_TRUE(found[i] == wanted[i] ||
                    (wanted[i].size() == 80 && found[i].starts_with(wanted[i])))
            << found[i];
      }
    };
    expect_texts("user");
    expect_texts("assistant");
    EXPECT_EQ(thread.name.value_or(""),
              truth["name"].is_null() ? "" : truth["name"].get<std::string>());
    std::map<std::string, int> entries;
    std::map<MessageId, int> children;
    std::map<std::string, std::string> labels;
    int calls = 0;
    Texts stops;
    for (const Message& message : all(id)) {
      const json item = item_of(message);
      const std::string type = item["type"];
      if (type == "session") continue;
      if (message.parent_entry_id) ++children[*message.parent_entry_id];
      if (type == "label") {
        if (item.contains("label")) {
          labels[item["targetId"]] = item["label"];
        } else {
          labels.erase(item["targetId"].get<std::string>());
        }
      }
      if (type != "message") {
        ++entries[type];
        continue;
      }
      const json& inner = item["message"];
      ++entries["message:" + inner["role"].get<std::string>()];
      if (inner["role"] != "assistant") continue;
      stops.push_back(inner["stopReason"]);
      for (const json& block : inner["content"]) calls += block["type"] == "toolCall" ? 1 : 0;
    }
    EXPECT_EQ(json(entries), truth["entries"]);
    EXPECT_EQ(json(labels), truth["labels"]);
    EXPECT_EQ(calls, truth["tool_calls"].get<int>());
    EXPECT_EQ(stops, truth["stop_reasons"].get<Texts>());
    Texts branch_points;
    int roots = 0;
    for (const Message& message : all(id)) {
      const bool header = item_of(message)["type"] == "session";
      if (header) roots = std::max(roots, children[message.id]);
      if (!header && children[message.id] > 1) branch_points.push_back(entry_id(message));
    }
    EXPECT_EQ(branch_points, truth["branch_points"].get<Texts>());
    if (!truth["leaf"].is_null()) {
      EXPECT_EQ(entry_id(store_.messages().get(id, *thread.current_leaf_id)), truth["leaf"]);
      if (truth["parentSession"].is_null()) {
        EXPECT_EQ(roots, truth["roots"].get<int>());
      }
    }
    const std::string from = thread.forked_from ? thread.forked_from->thread_id.str() : "";
    if (truth["parentSession"].is_null()) {
      EXPECT_EQ(from, "");
    } else {
      const Path parent = truth["parentSession"].get<std::string>();
      const std::string stem = parent.stem().string();
      EXPECT_EQ(from, thread_of(stem.substr(stem.find('_') + 1)).str());
    }
  }
};

TEST_F(ImportPiTest, SessionsAreWhatTheirGroundTruthSays) {
  const ImportReport report = import({home_ / "home-1.6.0/sessions"});
  std::int64_t files = 0, bad = 0;
  for (const json& truth : test::read_ground_truth("pi")) {
    if (truth["file"].get<std::string>().find("/sessions/") == std::string::npos) continue;
    ++files;
    bad += truth["bad_lines"].get<int>();
    expect_truth(truth);
  }
  EXPECT_EQ(report.files, files);
  EXPECT_EQ(report.threads, files);
  EXPECT_EQ(report.skipped_total, bad);
  const ImportReport second = import({home_ / "home-1.6.0/sessions"});
  EXPECT_EQ(second.messages, 0);
  EXPECT_EQ(second.threads, 0);
  EXPECT_EQ(second.skipped_total, bad);
}

TEST_F(ImportPiTest, FilesOfOldVersionsAndTornOnesAreWhatTheirGroundTruthSays) {
  for (const json& truth : test::read_ground_truth("pi")) {
    const std::string file = truth["file"];
    if (file.find("/sessions/") != std::string::npos) continue;
    const test::TempDir dir;
    store_ = StateStore::open(dir / "state.db");
    const ImportReport report = import({home_ / file});
    expect_truth(truth);
    EXPECT_EQ(report.skipped_total, truth["bad_lines"].get<int>()) << file;
  }
}

/// pi rewrites old files with ids when it loads them, and goes on in killed ones.
TEST_F(ImportPiTest, AFileAndWhatItBecameAreOneThread) {
  import({home_ / "home-1.6.0/before-migration", home_ / "home-1.6.0/killed"});
  const std::int64_t threads = store_.threads().count();
  const ImportReport report = import({home_ / "home-1.6.0/sessions"});
  EXPECT_EQ(store_.threads().count(), threads + report.threads);
  const ThreadId v1("11111111-1111-4111-8111-111111111111");
  EXPECT_EQ(store_.messages().leaves(v1).size(), 1u);
  EXPECT_EQ(store_.messages().count(v1), 8);
  EXPECT_THAT(texts(ThreadId("01a22770-dbd4-75c0-8d2c-923dd5452eea"), "user"),
              ElementsAre("[slow] killed while streaming", "After the stream crash"));
}

TEST_F(ImportPiTest, WhatAFileWasComesToNothingAfterWhatItBecame) {
  import({home_ / "home-1.6.0/sessions"});
  const std::int64_t threads = store_.threads().count();
  const MessageId newest = store_.messages().newest_id();
  const ImportReport report =
      import({home_ / "home-1.6.0/before-migration", home_ / "home-1.6.0/killed"});
  EXPECT_EQ(report.messages, 0);
  EXPECT_EQ(report.grown, 0);
  EXPECT_EQ(store_.threads().count(), threads);
  EXPECT_EQ(store_.messages().newest_id(), newest);
}

TEST_F(ImportPiTest, ADryRunSaysWhatAnImportDoes) {
  const ImportReport dry = import({home_ / "home-1.6.0/sessions"}, true);
  EXPECT_EQ(store_.threads().count(), 0);
  EXPECT_EQ(store_.messages().newest_id(), MessageId{0});
  const ImportReport real = import({home_ / "home-1.6.0/sessions"});
  EXPECT_EQ(dry.threads, real.threads);
  EXPECT_EQ(dry.messages, real.messages);
  EXPECT_EQ(dry.skipped, real.skipped);
  const ImportReport again = import({home_ / "home-1.6.0/sessions"}, true);
  EXPECT_EQ(again.threads, 0);
  EXPECT_EQ(again.messages, 0);
}

}  // namespace
}  // namespace threadstore
