#include "cli/resolve/moment.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <time.h>

#include "threadstore/error.h"

namespace threadstore::cli {
namespace {

constexpr UnixSeconds kNow = 1'772'366'400;  // 2026-03-01T12:00:00Z

TEST(MomentTest, TakesRfc3339) {
  EXPECT_EQ(parse_moment("2026-03-01T12:00:00Z", 0), kNow);
  EXPECT_EQ(parse_moment("2026-03-01T13:30:00+01:30", 0), kNow);
  EXPECT_EQ(parse_moment("2026-03-01t07:00:00.25-05:00", 0), kNow);
  EXPECT_EQ(parse_moment("1969-12-31T23:59:59Z", 0), -1);
}

TEST(MomentTest, TakesADateAsLocalMidnight) {
  ::setenv("TZ", "UTC-2", 1);  // two hours ahead of UTC
  ::tzset();
  EXPECT_EQ(parse_moment("2026-03-01", 0), kNow - 14 * 3600);
  ::unsetenv("TZ");
  ::tzset();
}

TEST(MomentTest, TakesUnixSecondsAndAges) {
  EXPECT_EQ(parse_moment("1772366400", 5), kNow);
  EXPECT_EQ(parse_moment("0", kNow), 0);
  EXPECT_EQ(parse_moment("45s", kNow), kNow - 45);
  EXPECT_EQ(parse_moment("90m", kNow), kNow - 5'400);
  EXPECT_EQ(parse_moment("2h", kNow), kNow - 7'200);
  EXPECT_EQ(parse_moment("3d", kNow), kNow - 259'200);
  EXPECT_EQ(parse_moment("2w", kNow), kNow - 1'209'600);
}

TEST(MomentTest, RefusesEverythingElse) {
  for (const char* text :
       {"", "yesterday", "-5", "5x", "3 d", "2026-02-30", "2026-13-01", "2026-3-1",
        "2026-03-01T12:00:00", "2026-03-01T24:00:00Z", "2026-03-01T12:00Z", "99999999999999999999",
        "9223372036854775807d", "1e9"}) {
    EXPECT_THROW(parse_moment(text, kNow), Error) << text;
  }
}

}  // namespace
}  // namespace threadstore::cli
