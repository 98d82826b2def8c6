#include "state/search/search_query.h"

#include <gmock/gmock.h>

#include "tests/state/threads/message_fixture.h"

namespace threadstore::state {
namespace {

using ::testing::HasSubstr;

bool matches(const std::string& query, const std::string& document) {
  return ParsedQuery::parse(query).matches(document);
}

std::string error_text(const std::string& query) {
  try {
    ParsedQuery::parse(query);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.what();
  }
}

TEST(ParsedQueryTest, WordsMustAllOccurInAnyCaseAndInsideOfWords) {
  EXPECT_TRUE(matches("Parser ERROR", "the tokenparser said: error"));
  EXPECT_FALSE(matches("parser error", "the parser is fine"));
}

TEST(ParsedQueryTest, APhraseIsFoundAsItStands) {
  EXPECT_TRUE(matches("\"syntax  error\"", "a syntax error here"));
  EXPECT_FALSE(matches("\"syntax error\"", "an error of syntax"));
  EXPECT_TRUE(matches("\"a OR b\"", "either a or b"));
}

TEST(ParsedQueryTest, APrefixStandsWhereAWordBegins) {
  EXPECT_TRUE(matches("pars*", "sparse, then (parser)"));
  EXPECT_FALSE(matches("pars*", "sparse"));
  EXPECT_FALSE(matches("\"error at\"*", "terror attack"));
}

TEST(ParsedQueryTest, NotBindsMoreThanAndAndThatMoreThanOr) {
  EXPECT_TRUE(matches("one OR two NOT three", "one three"));
  EXPECT_FALSE(matches("(one OR two) NOT three", "one three"));
  EXPECT_TRUE(matches("one AND NOT (two OR three)", "one four"));
  EXPECT_FALSE(matches("one NOT (two OR three)", "one three"));
}

TEST(ParsedQueryTest, CodeIsAWord) {
  EXPECT_TRUE(matches("main()", "int main() {"));
  EXPECT_TRUE(matches("(main() OR x->y)", "int main() {"));
  EXPECT_TRUE(matches("-std=c++20 ^a:b*c", "g++ -std=c++20 ^a:b*c"));
  EXPECT_TRUE(matches("it's", "it's"));
  EXPECT_TRUE(matches(":)", "fine :)"));
}

TEST(ParsedQueryTest, TheIndexIsAskedForWhatItKnows) {
  const auto expression = [](const std::string& query) {
    return ParsedQuery::parse(query).index_expression().value_or("none");
  };
  EXPECT_EQ(expression("Parser"), "\"parser\"");
  EXPECT_EQ(expression("go parser NOT error"), "(\"parser\")");
  EXPECT_EQ(expression("one OR (two three)"), "(\"one\" OR (\"two\" AND \"three\"))");
  EXPECT_EQ(expression("go OR parser"), "none");
  EXPECT_EQ(expression("say\"it"), "\"say\"\"it\"");
  EXPECT_EQ(expression("日本語"), "\"日本語\"");
  EXPECT_EQ(expression("日本"), "none");
}

TEST(ParsedQueryTest, AMalformedQuerySaysHowToWriteIt) {
  EXPECT_THAT(error_text(""), HasSubstr("it is empty"));
  EXPECT_THAT(error_text("\"open"), HasSubstr("a double quote has no partner"));
  EXPECT_THAT(error_text("(a OR b"), HasSubstr("a \"(\" has no \")\""));
  for (const char* query : {"OR", "a OR", "AND a", "a AND OR b", "( )", "NOT"}) {
    EXPECT_THAT(error_text(query), HasSubstr("AND and OR stand between two words")) << query;
  }
  for (const char* query : {"NOT a", "a OR NOT b"}) {
    EXPECT_THAT(error_text(query), HasSubstr("only what not to find")) << query;
  }
  EXPECT_THAT(error_text("\" \""), HasSubstr("a phrase is empty"));
  std::string long_query;
  for (int i = 0; i < 201; ++i) long_query += "word ";
  EXPECT_THAT(error_text(long_query), HasSubstr("more than 200 words"));
}

TEST(ParsedQueryTest, TheDeepestQueryIsAnswered) {
  std::string query = std::string(90, '(') + "word" + std::string(90, ')');
  EXPECT_TRUE(matches(query, "a word"));
}

}  // namespace
}  // namespace threadstore::state
