#include "base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "threadstore/logging.h"

namespace threadstore::base {
namespace {

class LogTest : public testing::Test {
 protected:
  ~LogTest() override {
    set_log_sink({});
    set_log_level(LogLevel::warn);
  }
};

TEST_F(LogTest, GivesTheLinesToTheEmbedderFromTheLevelOn) {
  std::vector<std::pair<LogLevel, std::string>> lines;
  set_log_sink([&](LogLevel level, const std::string& line) { lines.emplace_back(level, line); });
  set_log_level(LogLevel::info);
  log_debug("too quiet");
  log_info("one");
  log_error("two");
  EXPECT_THAT(lines, testing::ElementsAre(std::pair(LogLevel::info, std::string("one")),
                                          std::pair(LogLevel::error, std::string("two"))));
}

TEST_F(LogTest, EscapesControlCharacters) {
  std::string seen;
  set_log_sink([&](LogLevel, const std::string& line) { seen = line; });
  log_warn("a\x1b[31m\nb é");
  EXPECT_EQ(seen, "a\\x1b[31m\\x0ab é");
}

TEST_F(LogTest, WritesToStandardErrorByDefault) {
  testing::internal::CaptureStderr();
  log_info("hidden");
  log_warn("shown {} as it is");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "threadstore: warning: shown {} as it is\n");
}

TEST_F(LogTest, OutlivesASinkThatThrows) {
  set_log_sink([](LogLevel, const std::string&) { throw 1; });
  EXPECT_NO_THROW(log_error("x"));
}

}  // namespace
}  // namespace threadstore::base
