#include "cli/app/exit_code.h"

#include <gtest/gtest.h>

namespace threadstore::cli {
namespace {

// Scripts rely on these numbers (docs/cli.md).
TEST(ExitCodeTest, EachErrorHasItsNumber) {
  EXPECT_EQ(exit_code_of(ErrorCode::invalid_argument), 2);
  EXPECT_EQ(exit_code_of(ErrorCode::not_found), 3);
  EXPECT_EQ(exit_code_of(ErrorCode::conflict), 4);
  EXPECT_EQ(exit_code_of(ErrorCode::busy), 5);
  EXPECT_EQ(exit_code_of(ErrorCode::damaged), 6);
  EXPECT_EQ(exit_code_of(ErrorCode::newer_format), 7);
  EXPECT_EQ(exit_code_of(ErrorCode::io), 8);
  EXPECT_EQ(exit_code_of(ErrorCode::unknown_outcome), 8);
}

}  // namespace
}  // namespace threadstore::cli
