#include <gmock/gmock.h>

#include <map>

#include "exchange/langgraph_value.h"
#include "tests/exchange/import_support.h"

namespace threadstore {
namespace {

using nlohmann::json;
using test::item_of;
using ::testing::IsEmpty;

class ImportLanggraphTest : public test::ImportTest {
 protected:
  Path database() {
    const Path copy = dir_ / "checkpoints.sqlite";
    if (!std::filesystem::exists(copy)) {
      std::filesystem::copy_file(test::fixture("peers") / "langgraph-js/checkpoints.sqlite", copy);
    }
    return copy;
  }
};

TEST_F(ImportLanggraphTest, ThreadsAreWhatTheirGroundTruthSays) {
  const ImportReport report = import({database()});
  EXPECT_THAT(test::whys(report), IsEmpty());
  const json truths = test::read_ground_truth("langgraph-js");
  EXPECT_EQ(report.threads, static_cast<std::int64_t>(truths.size()));
  for (const json& truth : truths) {
    const std::string space = truth["checkpoint_ns"];
    const std::string name =
        truth["thread_id"].get<std::string>() + (space.empty() ? "" : " " + space);
    SCOPED_TRACE(name);
    const auto threads = store_.threads().find_by_name(name);
    ASSERT_EQ(threads.size(), 1u);
    const ThreadId id = threads[0].id;
    const auto checkpoints = store_.checkpoints().list(id).items;
    EXPECT_EQ(checkpoints.size(), truth["checkpoints"].get<std::size_t>());
    std::map<std::string, int> sources, children;
    std::map<std::string, std::string> parents;
    for (const Checkpoint& checkpoint : checkpoints) {
      const json state = json::parse(checkpoint.state);
      ++sources[state["metadata"]["source"]];
      if (state["parent_checkpoint_id"].is_string()) ++children[state["parent_checkpoint_id"]];
    }
    EXPECT_EQ(json(sources), truth["sources"]);
    json fork_points = json::array();
    for (const auto& [checkpoint, count] : children) {
      if (count > 1) fork_points.push_back(checkpoint);
    }
    EXPECT_EQ(fork_points, truth["fork_points"]);
    for (const json& leaf : truth["leaves"]) {
      const auto checkpoint =
          store_.checkpoints().get(id, CheckpointId(leaf["id"].get<std::string>()));
      json messages = json::array();
      for (const Message& message : branch(id, checkpoint.leaf_id)) {
        messages.push_back({item_of(message)["id"].back(), message.content});
      }
      EXPECT_EQ(messages, leaf["messages"]);
      json pending = json::array();
      const json state = json::parse(checkpoint.state);
      for (const json& write : state["writes"]) {
        const std::string channel = write["channel"];
        if (channel == "__interrupt__" || channel == "__error__") pending.push_back(channel);
      }
      EXPECT_EQ(pending, leaf["pending"]);
    }
    const auto latest =
        store_.checkpoints().get(id, CheckpointId(truth["latest"].get<std::string>()));
    EXPECT_EQ(store_.threads().get(id).current_leaf_id, latest.leaf_id);
    EXPECT_EQ(store_.checkpoints().latest(id)->checkpoint_id, latest.checkpoint_id);
  }
}

TEST_F(ImportLanggraphTest, ASecondImportAddsNothing) {
  import({database()});
  const ImportReport second = import({database()});
  EXPECT_EQ(second.threads, 0);
  EXPECT_EQ(second.messages, 0);
  EXPECT_GT(second.already_present, 0);
}

TEST(LanggraphValueTest, MsgpackOfPythonIsRead) {
  const std::vector<std::uint8_t> inner = json::to_msgpack(
      json::array({"langchain_core.messages", "AIMessage", {{"content", "hi"}}, "model_validate"}));
  const json packed{{"m", json::binary(inner, 5)}, {"raw", json::binary({1, 2}, 9)}};
  const std::vector<std::uint8_t> bytes = json::to_msgpack(packed);
  const auto text = exchange::langgraph_json("msgpack", std::string(bytes.begin(), bytes.end()));
  ASSERT_TRUE(text.has_value());
  const auto message = exchange::read_langchain_message(exchange::JsonText(*text)["m"]);
  ASSERT_TRUE(message.has_value());
  EXPECT_EQ(message->role, "assistant");
  EXPECT_EQ(message->content, "hi");
  EXPECT_EQ(json::parse(*text)["raw"], (json{{"ext", 9}, {"hex", "0102"}}));
  EXPECT_EQ(exchange::langgraph_json("msgpack+aes", "x"), std::nullopt);
}

}  // namespace
}  // namespace threadstore
