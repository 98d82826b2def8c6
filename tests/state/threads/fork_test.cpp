#include <gmock/gmock.h>

#include "tests/state/threads/message_fixture.h"

namespace threadstore {
namespace {

using test::error_of;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ForkTest : public test::MessageStore {
 protected:
  ThreadId fork(const ThreadId& from, std::optional<MessageId> at = {}) {
    return store_.threads().fork({.source = from, .at = at}).thread.id;
  }

  ThreadId source = make_thread("source");
  std::vector<MessageId> chain = append_chain(source, 4);
};

TEST_F(ForkTest, StartsAsTheBranchOfItsSource) {
  now_ += 7;
  const Thread fork =
      store_.threads().fork({.source = source, .at = chain[2], .name = "second"}).thread;
  EXPECT_EQ(fork.source, SessionSource::fork);
  EXPECT_EQ(fork.name, "second");
  EXPECT_EQ(fork.current_leaf_id, chain[2]);
  EXPECT_EQ(fork.forked_from, (ForkOrigin{source, chain[2]}));
  EXPECT_EQ(fork.created_at, test::start_of_time + 7);
  EXPECT_THAT(branch(fork.id), ElementsAre("m1", "m2", "m3"));
  EXPECT_THAT(ids(messages_.leaves(fork.id)), ElementsAre(chain[2]));
  EXPECT_EQ(messages_.get(fork.id, chain[0]).thread_id, fork.id);
}

TEST_F(ForkTest, TakesTheIdAndTheTimeThatAnImporterGives) {
  const ForkRequest request{
      .source = source, .at = chain[2], .id = ThreadId("given"), .created_at = 1'600'000'000};
  const Thread fork = store_.threads().fork(request).thread;
  EXPECT_EQ(fork.id, ThreadId("given"));
  EXPECT_EQ(fork.created_at, 1'600'000'000);
  EXPECT_EQ(fork.updated_at, 1'600'000'000);
  EXPECT_EQ(error_of([&] { store_.threads().fork(request); }), ErrorCode::conflict);
}

TEST_F(ForkTest, GoesItsOwnWay) {
  const ThreadId copy = fork(source, chain[1]);
  const MessageId mine = append(copy, "mine");
  append(source, "theirs");
  EXPECT_THAT(branch(copy), ElementsAre("m1", "m2", "mine"));
  EXPECT_THAT(branch(source), ElementsAre("m1", "m2", "m3", "m4", "theirs"));
  EXPECT_THAT(ids(messages_.children(copy, chain[1])), ElementsAre(mine));
  EXPECT_THAT(ids(messages_.children(source, chain[1])), ElementsAre(chain[2]));
  EXPECT_EQ(messages_.find(source, mine), std::nullopt);
  EXPECT_EQ(messages_.find(copy, chain[2]), std::nullopt);
  EXPECT_EQ(messages_.count(copy), 3);
  EXPECT_EQ(messages_.tree(copy).size(), 3u);
}

TEST_F(ForkTest, BranchesInsideItsInheritedHistory) {
  const ThreadId copy = fork(source);
  const MessageId side = messages_.branch_at(copy, chain[0], {.role = "u", .content = "side"}).id;
  EXPECT_THAT(branch(copy), ElementsAre("m1", "side"));
  EXPECT_THAT(ids(messages_.leaves(copy)), ElementsAre(chain[3], side));
  EXPECT_THAT(ids(messages_.children(copy, chain[0])), ElementsAre(chain[1], side));
  EXPECT_THAT(contents(messages_.since(copy, chain[1])), ElementsAre("m3", "m4", "side"));
}

TEST_F(ForkTest, OfAForkMayStartAtAnAncestorsMessage) {
  const ThreadId first = fork(source, chain[2]);
  append(first, "first");
  const ThreadId second = fork(first, chain[1]);
  append(second, "second");
  EXPECT_THAT(branch(second), ElementsAre("m1", "m2", "second"));
  EXPECT_EQ(store_.threads().get(second).forked_from, (ForkOrigin{first, chain[1]}));
  EXPECT_EQ(error_of([&] { fork(second, chain[2]); }), ErrorCode::not_found);
}

TEST_F(ForkTest, OfAnEmptyThreadIsEmpty) {
  const ThreadId copy = fork(make_thread("empty"));
  EXPECT_THAT(branch(copy), IsEmpty());
  EXPECT_EQ(store_.threads().get(copy).forked_from, (ForkOrigin{ThreadId("empty"), {}}));
}

TEST_F(ForkTest, SurvivesTheRemovalOfItsSource) {
  const ThreadId copy = fork(source, chain[2]);
  append(copy, "mine");
  const RemovedThread removed = store_.threads().remove(source);
  EXPECT_TRUE(removed.existed);
  EXPECT_EQ(removed.messages, 4);
  EXPECT_THAT(branch(copy), ElementsAre("m1", "m2", "m3", "mine"));
  EXPECT_EQ(messages_.newest_id(), MessageId{5});
  EXPECT_THAT(ids(messages_.since(std::nullopt, MessageId{0})),
              ElementsAre(chain[0], chain[1], chain[2], MessageId{5}));
  EXPECT_THAT(ids(messages_.leaves(copy)), ElementsAre(MessageId{5}));
}

TEST_F(ForkTest, SurvivesTheRemovalOfSeveralGenerations) {
  const ThreadId first = fork(source, chain[3]);
  append(first, "first");
  const ThreadId second = fork(first);
  const ThreadId third = fork(second, chain[1]);
  EXPECT_TRUE(store_.threads().remove(source).existed);
  EXPECT_TRUE(store_.threads().remove(first).existed);
  EXPECT_THAT(branch(second), ElementsAre("m1", "m2", "m3", "m4", "first"));
  EXPECT_TRUE(store_.threads().remove(second).existed);
  EXPECT_THAT(branch(third), ElementsAre("m1", "m2"));
  EXPECT_EQ(messages_.since(std::nullopt, MessageId{0}).size(), 2u);
  EXPECT_TRUE(store_.threads().remove(third).existed);
  EXPECT_THAT(messages_.since(std::nullopt, MessageId{0}), IsEmpty());
}

TEST_F(ForkTest, SurvivesTheClearingOfItsSource) {
  const ThreadId copy = fork(source, chain[2]);
  EXPECT_EQ(messages_.clear(source).deleted, 4);
  EXPECT_THAT(branch(copy), ElementsAre("m1", "m2", "m3"));
  EXPECT_THAT(branch(source), IsEmpty());
  EXPECT_EQ(messages_.count(source), 0);
  append(source, "new");
  EXPECT_THAT(branch(source), ElementsAre("new"));
  EXPECT_THAT(branch(copy), ElementsAre("m1", "m2", "m3"));
}

TEST_F(ForkTest, ThatIsClearedLosesItsInheritedHistory) {
  const ThreadId copy = fork(source, chain[2]);
  append(copy, "mine");
  const ThreadId grandchild = fork(copy);
  EXPECT_EQ(messages_.clear(copy).deleted, 4);
  EXPECT_THAT(messages_.tree(copy), IsEmpty());
  EXPECT_EQ(messages_.find(copy, chain[0]), std::nullopt);
  EXPECT_THAT(branch(grandchild), ElementsAre("m1", "m2", "m3", "mine"));
  EXPECT_THAT(branch(source), ElementsAre("m1", "m2", "m3", "m4"));
}

TEST_F(ForkTest, OfAHundredThousandMessagesKeepsThemAll) {
  const ThreadId deep = make_thread("deep");
  constexpr int depth = 100'000;
  append_chain(deep, depth);
  const ThreadId first = fork(deep);
  const ThreadId second = fork(first);
  EXPECT_EQ(store_.threads().remove(deep).messages, depth);
  EXPECT_EQ(store_.threads().remove(first).messages, depth);
  EXPECT_EQ(messages_.count(second), depth);
  const auto newest = messages_.list(second, {.limit = 2});
  EXPECT_THAT(contents(newest.messages), ElementsAre("m99999", "m100000"));
  EXPECT_EQ(messages_.depth(second, newest.messages[1].id), depth);
}

}  // namespace
}  // namespace threadstore
