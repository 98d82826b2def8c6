#include "cli/output/json.h"

#include <gtest/gtest.h>

#include <sstream>

namespace threadstore::cli {
namespace {

std::string written(const Json& document) {
  std::ostringstream out;
  write_json(out, document);
  return out.str();
}

TEST(JsonTest, KeepsTheOrderOfKeys) {
  EXPECT_EQ(written({{"z", 1}, {"a", nullptr}, {"m", {{"y", "\n"}, {"b", Json::array()}}}}),
            R"({"z":1,"a":null,"m":{"y":"\n","b":[]}})");
}

TEST(JsonTest, EmbeddedTextStaysAsItIsOnOneLine) {
  EXPECT_EQ(written({{"item", embedded("{\"n\": 12345678901234567890123,\n \"s\":\"a\\nb\"}")}}),
            R"({"item":{"n": 12345678901234567890123,  "s":"a\nb"}})");
}

TEST(JsonTest, ReplacesBytesThatAreNoUtf8) {
  EXPECT_EQ(written(Json{{"name", "a\xff"}}), "{\"name\":\"a\xef\xbf\xbd\"}");
}

}  // namespace
}  // namespace threadstore::cli
