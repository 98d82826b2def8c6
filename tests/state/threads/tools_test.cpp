#include "threadstore/tools.h"

#include "tests/state/threads/records_test.h"

namespace threadstore::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class ToolsTest : public RecordsTest {
 protected:
  ThreadId thread = make_thread("t1");
  Tools tools = store.tools();
};

TEST_F(ToolsTest, ReplacedToolsReadBackByPosition) {
  tools.replace(thread, {{.name = "old"}});
  tools.replace(thread, {{.position = 5, .name = "last", .description = "d"},
                         {.name = "second", .input_schema = R"({"z":1, "a":2})"}});
  const std::vector<Tool> expected{
      {.position = 1, .name = "second", .input_schema = R"({"z":1, "a":2})"},
      {.position = 5, .name = "last", .description = "d", .input_schema = "{}"}};
  EXPECT_EQ(tools.list(thread), expected);
}

TEST_F(ToolsTest, InvalidToolsChangeNothing) {
  tools.replace(thread, {{.name = "kept"}});
  const auto replace = [&](std::vector<Tool> list) {
    return error_of([&] { tools.replace(thread, list); });
  };
  EXPECT_THAT(replace({{.position = 1, .name = "a"}, {.name = "b"}}),
              AllOf(StartsWith("invalid_argument"), HasSubstr("position 1")));
  EXPECT_THAT(replace({{.position = -1, .name = "a"}}), StartsWith("invalid_argument"));
  EXPECT_THAT(replace({{.name = ""}}), StartsWith("invalid_argument"));
  EXPECT_THAT(replace({{.name = "a", .input_schema = "{"}}), StartsWith("invalid_argument"));
  EXPECT_THAT(error_of([&] { tools.replace(ThreadId("none"), {}); }), StartsWith("not_found"));
  EXPECT_EQ(tools.list(thread).at(0).name, "kept");
}

TEST_F(ToolsTest, DamagedSchemaNamesTheThread) {
  tools.replace(thread, {{.name = "grep"}});
  other.run("UPDATE thread_dynamic_tools SET input_schema = '{'");
  EXPECT_THAT(error_of([&] { tools.list(thread); }),
              AllOf(StartsWith("damaged"), HasSubstr("'grep' of thread t1")));
}

TEST(ToolsFixtureTest, ReadsWhatTheOriginalStored) {
  FixtureStore original("original-v5");
  const std::vector<Tool> expected{
      {.position = 0,
       .name = "search",
       .description = "find text",
       .input_schema =
           R"({"properties":{"q":{"type":"string"}},"required":["q"],"type":"object"})"},
      {.position = 1, .name = "open", .input_schema = R"({"type":"object"})"}};
  EXPECT_EQ(original.store->tools().list(ThreadId("thread-linear")), expected);
}

}  // namespace
}  // namespace threadstore::test
