#include "state/db/sqlite_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <map>

namespace threadstore::db {
namespace {

TEST(SqliteLibraryTest, KnowsWhichVersionsCanLosePages) {
  const std::map<int, bool> expected{
      {3006023, false}, {3007000, true}, {3040001, true},  {3044005, true},  {3044006, false},
      {3044999, false}, {3045000, true}, {3050006, true},  {3050007, false}, {3050999, false},
      {3051000, true},  {3051002, true}, {3051003, false}, {3052000, false}, {4000000, false}};
  std::map<int, bool> actual;
  for (const auto& [version, affected] : expected) actual[version] = has_wal_reset_bug(version);
  EXPECT_EQ(actual, expected);
}

TEST(SqliteLibraryTest, AdviceNamesTheLibraryInUseAndIsEmptyWhenThereIsNone) {
  EXPECT_EQ(has_wal_reset_bug(), has_wal_reset_bug(sqlite3_libversion_number()));
  if (has_wal_reset_bug()) {
    EXPECT_THAT(library_advice(), testing::HasSubstr(sqlite3_libversion()));
  } else {
    EXPECT_EQ(library_advice(), "");
  }
}

}  // namespace
}  // namespace threadstore::db
