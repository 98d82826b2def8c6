#include "base/ids.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>

namespace threadstore::base {
namespace {

TEST(IdsTest, IsAUuidOfVersionSevenWithTheTimeInFront) {
  // The example time of RFC 9562, later than anything that another test of this process asks for.
  EXPECT_THAT(make_uuid_v7(0x017F22E279B0),
              testing::MatchesRegex("017f22e2-79b0-7[0-9a-f]{3}-"
                                    "[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
}

TEST(IdsTest, GrowsWithinAMillisecondAndWhenTheClockIsSetBack) {
  std::string last = make_uuid_v7(0x017F22E279B1);
  for (int i = 0; i < 10'000; ++i) {
    const std::string next = make_uuid_v7(i % 2 == 0 ? 0x017F22E279B1 : 5);
    ASSERT_LT(last, next);
    last = next;
  }
}

TEST(IdsTest, IsUniqueAcrossThreads) {
  std::vector<std::vector<std::string>> made(4);
  std::vector<std::thread> threads;
  for (auto& ids : made) {
    threads.emplace_back([&ids] {
      for (int i = 0; i < 2'000; ++i) ids.push_back(make_uuid_v7(1));
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<std::string> all;
  for (const auto& ids : made) {
    EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end()));
    all.insert(ids.begin(), ids.end());
  }
  EXPECT_EQ(all.size(), 8'000U);
}

}  // namespace
}  // namespace threadstore::base
