#include <gmock/gmock.h>

#include "tests/state/threads/message_fixture.h"

namespace threadstore {
namespace {

using test::error_of;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class MessageTreeTest : public test::MessageStore {
 protected:
  //  a - b - c      (c is the current leaf before the branch)
  //        \ d - e  (current)
  void SetUp() override {
    a = append(thread, "a");
    b = append(thread, "b");
    c = append(thread, "c");
    d = messages_.branch_at(thread, b, {.role = "user", .content = "d"}).id;
    e = append(thread, "e");
  }

  ThreadId thread = make_thread();
  MessageId a{}, b{}, c{}, d{}, e{};
};

TEST_F(MessageTreeTest, BranchAtBecomesTheCurrentBranch) {
  EXPECT_THAT(branch(thread), ElementsAre("a", "b", "d", "e"));
  EXPECT_THAT(ids(messages_.leaves(thread)), ElementsAre(c, e));
  EXPECT_THAT(ids(messages_.children(thread, b)), ElementsAre(c, d));
  EXPECT_THAT(ids(messages_.path_from_root(thread, c)), ElementsAre(a, b, c));
  EXPECT_EQ(messages_.depth(thread, e), 4);
  EXPECT_EQ(messages_.count(thread), 5);
}

TEST_F(MessageTreeTest, SwitchingReadsAnotherBranchAndMovesNoActivity) {
  now_ += 10;
  messages_.set_current_leaf(thread, c);
  EXPECT_THAT(branch(thread), ElementsAre("a", "b", "c"));
  EXPECT_EQ(store_.threads().get(thread).updated_at, test::start_of_time);
}

TEST_F(MessageTreeTest, SwitchingToNoneMakesTheNextMessageARoot) {
  messages_.set_current_leaf(thread, {});
  EXPECT_THAT(branch(thread), IsEmpty());
  append(thread, "root");
  EXPECT_THAT(branch(thread), ElementsAre("root"));
}

TEST_F(MessageTreeTest, MessagesOutsideTheViewAreNotFound) {
  const ThreadId other = make_thread("other");
  const MessageId stranger = append(other, "x");
  for (const MessageId id : {stranger, MessageId{999}}) {
    EXPECT_EQ(error_of([&] { messages_.set_current_leaf(thread, id); }), ErrorCode::not_found);
    EXPECT_EQ(error_of([&] { messages_.branch_at(thread, id, {}); }), ErrorCode::not_found);
    EXPECT_EQ(error_of([&] { messages_.children(thread, id); }), ErrorCode::not_found);
    EXPECT_EQ(error_of([&] { messages_.depth(thread, id); }), ErrorCode::not_found);
    EXPECT_EQ(error_of([&] { messages_.list(thread, {.leaf = id}); }), ErrorCode::not_found);
    EXPECT_EQ(messages_.find(thread, id), std::nullopt);
  }
  EXPECT_EQ(error_of([&] { messages_.list(ThreadId("none")); }), ErrorCode::not_found);
}

TEST_F(MessageTreeTest, PagesGoTowardsTheRoot) {
  const BranchPage newest = messages_.list(thread, {.limit = 2});
  EXPECT_THAT(contents(newest.messages), ElementsAre("d", "e"));
  EXPECT_TRUE(newest.more);
  const BranchPage older = messages_.list(thread, {.before = newest.messages[0].id, .limit = 2});
  EXPECT_THAT(contents(older.messages), ElementsAre("a", "b"));
  EXPECT_FALSE(older.more);
  EXPECT_THAT(messages_.list(thread, {.before = a}).messages, IsEmpty());
  EXPECT_THAT(contents(messages_.list(thread, {.leaf = c}).messages), ElementsAre("a", "b", "c"));
  EXPECT_EQ(error_of([&] { messages_.list(thread, {.limit = 0}); }), ErrorCode::invalid_argument);
}

TEST_F(MessageTreeTest, TheTreeNamesChildrenAndTheCurrentLeaf) {
  append(thread, std::string(100, 'y') + "\nsecond line");
  const std::vector<TreeNode> tree = messages_.tree(thread);
  ASSERT_EQ(tree.size(), 6u);
  EXPECT_EQ(tree[1].id, b);
  EXPECT_EQ(tree[1].parent_entry_id, a);
  EXPECT_THAT(tree[1].children, ElementsAre(c, d));
  EXPECT_EQ(tree[5].preview, std::string(80, 'y'));
  EXPECT_TRUE(tree[5].is_current_leaf);
  EXPECT_FALSE(tree[4].is_current_leaf);
}

TEST_F(MessageTreeTest, WalkStopsWhenToldTo) {
  std::vector<std::string> seen;
  messages_.walk(thread, {}, [&](const Message& message) {
    seen.push_back(message.content);
    return seen.size() < 2;
  });
  EXPECT_THAT(seen, ElementsAre("e", "d"));
}

TEST_F(MessageTreeTest, SinceGivesWhatIsNewerInTheOrderOfCommits) {
  const MessageId other = append(make_thread("other"), "x");
  EXPECT_THAT(ids(messages_.since(thread, c)), ElementsAre(d, e));
  EXPECT_THAT(ids(messages_.since(std::nullopt, d)), ElementsAre(e, other));
  EXPECT_THAT(ids(messages_.since(std::nullopt, MessageId{0}, 2)), ElementsAre(a, b));
  EXPECT_EQ(messages_.newest_id(), other);
}

TEST_F(MessageTreeTest, ALongBranchIsReadInSeveralSnapshots) {
  const ThreadId deep = make_thread("deep");
  const auto chain = append_chain(deep, 12'000);
  const BranchPage all = messages_.list(deep, {.limit = 20'000});
  EXPECT_EQ(ids(all.messages), chain);
  EXPECT_FALSE(all.more);
  EXPECT_EQ(messages_.depth(deep, chain.back()), 12'000);
  EXPECT_EQ(messages_.tree(deep).size(), 12'000u);
  const MessageId side = messages_.branch_at(deep, chain[5], {.role = "u", .content = "side"}).id;
  EXPECT_THAT(ids(messages_.leaves(deep)), ElementsAre(chain.back(), side));
  EXPECT_EQ(messages_.since(deep, MessageId{0}, 20'000).size(), 12'001u);
}

}  // namespace
}  // namespace threadstore
