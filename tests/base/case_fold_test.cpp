#include "base/case_fold.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace threadstore::base {
namespace {

TEST(CaseFoldTest, FoldsAsciiExactlyAndOtherLettersSimply) {
  EXPECT_EQ(fold_case("AZaz09[`{@"), "azaz09[`{@");
  EXPECT_EQ(fold_case("ÀÉÎÕÜ ΑΣς ЖЯ 𐐀"), "àéîõü ασσ жя 𐐨");
  EXPECT_EQ(fold_case("ß ı İ 海 🐳"), "ß ı İ 海 🐳");
  EXPECT_EQ(fold_case(std::string("a\0B\xFF\xC3", 5)), std::string("a\0b\xFF\xC3", 5));
}

TEST(CaseFoldTest, HashesEqualWhatFoldsEqual) {
  EXPECT_EQ(hash_folded("Résumé ΣΣ"), hash_folded("RÉSUMÉ ςσ"));
  EXPECT_NE(hash_folded("Résumé"), hash_folded("Resume"));
}

}  // namespace
}  // namespace threadstore::base
