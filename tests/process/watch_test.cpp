// What one process commits, another one that watches sees.
#include "tests/process/store_fixture.h"

namespace threadstore::test {
namespace {

class WatchTest : public StoreFixture {};

TEST_F(WatchTest, MessagesOfOtherProcessesAreSeenOnceAndInOrder) {
  const auto store = open();
  const ThreadId first = make_thread(store);
  const ThreadId second = make_thread(store);
  store.messages().append(first, {.role = "user", .content = "before the watch"});

  ProcessSwarm watcher({actor("watch")});
  watcher.go();
  // Each message is waited for before the next is written: none is noticed only with its successor.
  for (int i = 0; i < 20; ++i) {
    const std::string content = "message " + std::to_string(i);
    const auto stored =
        store.messages().append(i % 2 == 0 ? first : second, {.role = "user", .content = content});
    EXPECT_EQ(watcher[0].read_line(),
              "message " + std::to_string(to_int(stored.id)) + " " + content);
  }
  watcher.stop();
  EXPECT_EQ(watcher.finish().at(0), std::vector<std::string>{});
}

TEST_F(WatchTest, WaitingSaysThatNothingCame) {
  const auto store = open();
  make_thread(store);
  EXPECT_FALSE(store.wait_for_change(store.change_mark(), std::chrono::milliseconds(20)));
}

}  // namespace
}  // namespace threadstore::test
