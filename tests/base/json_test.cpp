#include "base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

namespace threadstore::base {
namespace {

std::string nested(std::size_t depth) {
  std::string text;
  for (std::size_t i = 0; i < depth; ++i) text += i % 2 == 0 ? "[" : R"({"k":)";
  text += "1";
  for (std::size_t i = depth; i-- > 0;) text += i % 2 == 0 ? "]" : "}";
  return text;
}

TEST(JsonTest, AcceptsEveryKindOfValue) {
  for (const char* text : {"null", " true\n", "false", "0", "-0", "12.5e-3", "1E+2", "\"\"",
                           R"("\u00e9\n\/\ud83d\udc33")", "[]", "{}", "[ ]", "{ }",
                           "[1,[2,{}],\"a\"]", R"({"a":{"b":[null]},"a":2})", "\"é🐳\"",
                           "123456789012345678901234567890.12345678901234567890", "1e-999",
                           "0.0000000000000000000001"}) {
    EXPECT_FALSE(find_json_fault(text)) << text;
  }
  for (const std::string& close_to_zero :
       {"0." + std::string(400, '0') + "1", "0." + std::string(400, '0') + "1e5",
        "1e-99999999999999999999" + std::string(300, '9'), "0e99999" + std::string(300, '9')}) {
    EXPECT_FALSE(find_json_fault(close_to_zero)) << close_to_zero;
    EXPECT_TRUE(nlohmann::json::accept(close_to_zero));
  }
}

TEST(JsonTest, SaysWhereAndWhyTextIsRefused) {
  const std::tuple<std::string, std::size_t, std::string> cases[] = {
      {"", 0, "unexpected end: a value is missing"},
      {"[1,]", 3, "unexpected character"},
      {"[1 2]", 3, "expected ',' or ']' in an array"},
      {R"({"a" 1})", 5, "expected ':' after a key"},
      {R"({"a":1,})", 7, "expected a key in double quotes"},
      {R"({"a":1])", 6, "expected ',' or '}' in an object"},
      {"{} {}", 3, "unexpected text after the value"},
      {"nul", 0, "unknown word"},
      {"01", 1, "unexpected text after the value"},
      {"1.", 2, "a digit must follow the decimal point"},
      {"1e", 2, "a digit is missing in the exponent"},
      {"1e999", 0, "number too large"},
      {"[-0.01e40000]", 1, "number too large"},
      {"0.001e99999999999999999999", 0, "number too large"},
      {"1" + std::string(400, '0'), 0, "number too large"},
      {"\"a", 2, "unexpected end inside a string"},
      {"\"a\nb\"", 2, "control character inside a string"},
      {"\"\\x\"", 1, "unknown escape"},
      {"\"\\ud800\"", 1, "half a surrogate pair"},
      {"\"\\udc00\\ud800\"", 1, "half a surrogate pair"},
      {"\"\xC0\xAF\"", 1, "invalid UTF-8"},
      {"\xEF\xBB\xBF{}", 0, "unexpected character"},
      {std::string("1\0", 2), 1, "unexpected text after the value"},
  };
  for (const auto& [text, offset, reason] : cases) {
    const auto fault = find_json_fault(text);
    ASSERT_TRUE(fault) << text;
    EXPECT_EQ(std::pair(fault->offset, fault->reason), std::pair(offset, reason)) << text;
  }
}

TEST(JsonTest, BoundsTheDepthWithoutRecursion) {
  EXPECT_FALSE(find_json_fault(nested(200)));
  EXPECT_EQ(find_json_fault(nested(201))->reason, "nested deeper than 200 levels");
  EXPECT_TRUE(find_json_fault(std::string(10'000'000, '[')));
}

TEST(JsonTest, AgreesWithTheParserOnMutatedTexts) {
  const std::string seed_text =
      R"({"a":[1,-2.5e3,true,null,"x\u00e9\"y"],"b":{"c":"é🐳","d":[[],{}]},"e":false})";
  const unsigned seed = 20260301;
  std::mt19937 random(seed);
  const std::string alphabet = "{}[]\",:\\u019eE+-.tn \n\x80\xC3";
  for (int round = 0; round < 20'000; ++round) {
    std::string text = seed_text;
    for (auto edits = 1 + random() % 3; edits > 0; --edits) {
      const std::size_t at = random() % text.size();
      const char c = alphabet[random() % alphabet.size()];
      if (random() % 2 == 0) {
        text[at] = c;
      } else {
        text.erase(at, 1 + random() % 4);
      }
    }
    ASSERT_EQ(!find_json_fault(text), nlohmann::json::accept(text)) << "seed " << seed << "\n"
                                                                    << text;
  }
}

// Strings are looked at eight bytes at a time.
TEST(JsonTest, FindsEachByteAtEachPlaceOfALongString) {
  for (std::size_t at = 1; at <= 24; ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string text = '"' + std::string(24, 'x') + '"';
      text[at] = static_cast<char>(byte);
      const auto fault = find_json_fault(text);
      ASSERT_EQ(!fault, nlohmann::json::accept(text)) << byte << " at " << at;
      const bool alone = byte < 0x20 || byte >= 0x80;
      if (alone) {
        ASSERT_EQ(fault->offset, at) << byte;
      }
    }
  }
}

TEST(JsonTest, ParsesWithContextInTheError) {
  EXPECT_EQ(parse_json(R"({"a":1})", "the item"), nlohmann::json({{"a", 1}}));
  try {
    parse_json("{]", "checkpoint latest of thread t1");
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::damaged);
    EXPECT_STREQ(
        e.what(),
        "checkpoint latest of thread t1 is not valid JSON: expected a key in double quotes "
        "at byte 1");
  }
}

}  // namespace
}  // namespace threadstore::base
