#include <gmock/gmock.h>

#include <filesystem>

#include "tests/state/threads/message_fixture.h"

namespace threadstore {
namespace {

using ::testing::ElementsAre;

/// Files that other programs made (tests/fixtures), copied before they are opened.
class OldMessagesTest : public ::testing::Test {
 protected:
  Messages open(const std::string& name) {
    std::filesystem::copy(test::fixture(name), dir_.path(),
                          std::filesystem::copy_options::recursive |
                              std::filesystem::copy_options::overwrite_existing);
    store_ = StateStore::open(dir_ / "state.db");
    return store_->messages();
  }
  static std::vector<std::string> contents(const std::vector<Message>& messages) {
    std::vector<std::string> result;
    for (const Message& message : messages) result.push_back(message.content);
    return result;
  }
  static std::vector<std::int64_t> ids(const std::vector<Message>& messages) {
    std::vector<std::int64_t> result;
    for (const Message& message : messages) result.push_back(to_int(message.id));
    return result;
  }

  test::TempDir dir_;
  std::optional<StateStore> store_;
};

TEST_F(OldMessagesTest, VersionZeroReadsInTheOrderOfTheClock) {
  const Messages messages = open("old-v0");
  EXPECT_THAT(contents(messages.list(ThreadId("old-1")).messages), ElementsAre("a", "c", "b", "d"));
  EXPECT_THAT(contents(messages.list(ThreadId("old-1"), {.limit = 2}).messages),
              ElementsAre("b", "d"));
  std::vector<std::int64_t> drawn;
  for (const TreeNode& node : messages.tree(ThreadId("old-1"))) drawn.push_back(to_int(node.id));
  EXPECT_THAT(drawn, ElementsAre(1, 3, 2, 4));
  EXPECT_THAT(contents(messages.leaves(ThreadId("old-2"))), ElementsAre("right child"));
}

TEST_F(OldMessagesTest, VersionZeroCanBeForkedAndItsSourceRemoved) {
  Messages messages = open("old-v0");
  const ThreadId copy =
      store_->threads().fork({.source = ThreadId("old-1"), .at = MessageId{2}}).thread.id;
  EXPECT_THAT(ids(messages.leaves(copy)), ElementsAre(2));
  EXPECT_EQ(messages.count(copy), 3);
  EXPECT_EQ(store_->threads().remove(ThreadId("old-1")).messages, 4);
  EXPECT_THAT(contents(messages.list(copy).messages), ElementsAre("a", "c", "b"));
  EXPECT_THAT(ids(messages.since(copy, MessageId{0})), ElementsAre(1, 2, 3));
}

class OldBranchesTest : public OldMessagesTest,
                        public ::testing::WithParamInterface<const char*> {};

TEST_P(OldBranchesTest, AreKept) {
  const Messages messages = open(GetParam());
  EXPECT_THAT(contents(messages.list(ThreadId("old-1")).messages), ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(ids(messages.leaves(ThreadId("old-2"))), ElementsAre(6, 8));
  EXPECT_THAT(contents(messages.list(ThreadId("old-2")).messages),
              ElementsAre(::testing::_, "right", "right child"));
}

INSTANTIATE_TEST_SUITE_P(Versions, OldBranchesTest,
                         ::testing::Values("old-v0-columns", "old-v1", "old-v2", "old-v3"));

class OriginalMessagesTest : public OldBranchesTest {};

TEST_P(OriginalMessagesTest, ReadAsTheOriginalShowsThem) {
  const Messages messages = open(GetParam());
  const ThreadId thread("thread-branches");
  const auto branch = messages.list(thread).messages;
  EXPECT_THAT(ids(branch), ElementsAre(13, 14, 19, 20));
  EXPECT_THAT(ids(messages.leaves(thread)), ElementsAre(18, 20, 21));
  for (const Message& message : branch) EXPECT_FALSE(message.checksum_mismatch);
}

INSTANTIATE_TEST_SUITE_P(Versions, OriginalMessagesTest,
                         ::testing::Values("original-v4", "original-v5"));

}  // namespace
}  // namespace threadstore
