#include "cli/resolve/json_members.h"

#include <gtest/gtest.h>

#include "threadstore/error.h"

namespace threadstore::cli {
namespace {

using Members = std::vector<std::pair<std::string, std::string>>;

TEST(JsonMembersTest, KeepsEachValueAsItStandsThere) {
  EXPECT_EQ(
      json_members(R"( {"a" : 12345678901234567890123 , "b":{"z":1, "y":[2,"}"]},"c":"\"x\\"} )"),
      (Members{{"a", "12345678901234567890123"},
               {"b", R"({"z":1, "y":[2,"}"]})"},
               {"c", R"("\"x\\")"}}));
}

TEST(JsonMembersTest, TakesAnEmptyObject) { EXPECT_EQ(json_members("{ }"), Members{}); }

TEST(JsonMembersTest, DecodesEscapedNames) {
  EXPECT_EQ(json_members(R"({"r\u006fle":"user"})"), (Members{{"role", R"("user")"}}));
}

TEST(JsonMembersTest, RefusesWhatIsNoObject) {
  for (const char* text : {"", "[]", "1", "{", R"({"a":1}{"b":2})", "{'a':1}"}) {
    EXPECT_THROW(json_members(text), Error) << text;
  }
}

TEST(JsonMembersTest, TakesValuesOfAnyDepth) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_EQ(json_members("{\"item\":" + deep + "}"), (Members{{"item", deep}}));
}

TEST(JsonMembersTest, StringsAreDecodedAndOtherValuesRefused) {
  EXPECT_EQ(json_string("role", R"("a\u00e9")"), "aé");
  EXPECT_THROW(json_string("role", "17"), Error);
}

}  // namespace
}  // namespace threadstore::cli
