#include "tests/bench/store_maker.h"

#include <gtest/gtest.h>

#include "tests/support/temp_dir.h"

namespace threadstore::bench {
namespace {

class StoreMakerTest : public testing::Test {
 protected:
  test::TempDir dir_;
};

TEST_F(StoreMakerTest, SharesTheMessagesAmongTheThreads) {
  const StateStore store = make_store(dir_.path(), {.threads = 3, .messages = 100, .bytes = 64});
  EXPECT_EQ(store.threads().count(), 3);
  std::vector<std::int64_t> counts;
  for (int i = 0; i < 3; ++i) counts.push_back(store.messages().count(made_thread(i)));
  EXPECT_EQ(counts, (std::vector<std::int64_t>{34, 33, 33}));
  EXPECT_EQ(store.messages().list(made_thread(0)).messages.back().content.size(), 64u);
}

TEST_F(StoreMakerTest, KeepsBranchesToTheDepthAndTheFirstOneActive) {
  const StateStore store = make_store(dir_.path(), {.threads = 1, .messages = 100, .depth = 21});
  const ThreadId thread = made_thread(0);
  const auto leaves = store.messages().leaves(thread);
  EXPECT_EQ(leaves.size(), 5u);  // 21, then 20 below the first message, four times; 1 + 19 left
  for (const Message& leaf : leaves) EXPECT_LE(store.messages().depth(thread, leaf.id), 21);
  EXPECT_EQ(store.threads().get(thread).current_leaf_id, leaves.front().id);
  EXPECT_EQ(store.messages().depth(thread, leaves.front().id), 21);
}

TEST_F(StoreMakerTest, WritesTheIndexAlong) {
  const StateStore store = make_store(dir_.path(), {.threads = 2500});
  EXPECT_TRUE(store.verify_index().ok());
  EXPECT_EQ(store.index()->stats().threads, 2500);
}

TEST_F(StoreMakerTest, CopiesAWholeStore) {
  { make_store(dir_.path(), {.threads = 2, .messages = 10}); }
  copy_store(dir_.path(), dir_ / "copy");
  const StateStore copy = StateStore::open(dir_ / "copy/state.db");
  EXPECT_EQ(copy.messages().count(made_thread(1)), 5);
}

}  // namespace
}  // namespace threadstore::bench
