#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/state/schema/migrated_file.h"
#include "tests/support/child_process.h"

namespace threadstore::test {
namespace {

constexpr int kOpeners = 6;
constexpr int kRounds = 10;

/// What every opener answers in every round, when all open the same file at the same moment.
std::vector<std::string> open_together(const std::filesystem::path& file) {
  std::vector<std::unique_ptr<ChildProcess>> openers;
  for (int i = 0; i < kOpeners; ++i) {
    openers.push_back(std::make_unique<ChildProcess>(
        std::vector<std::string>{SCHEMA_OPENER, file.string(), std::to_string(kRounds)}));
  }
  for (auto& opener : openers) opener->read_line();
  std::vector<std::string> answers;
  for (int round = 0; round < kRounds; ++round) {
    for (auto& opener : openers) opener->write_line("go");
    for (auto& opener : openers) answers.push_back(opener->read_line().value_or("ended"));
  }
  return answers;
}

std::string expected_answer() {
  return "5 " + std::to_string(state::state_schema().components.size());
}

TEST(SchemaOpenersTest, SixProcessesMayMakeTheSameStoreAtOnce) {
  const TempDir directory;
  EXPECT_THAT(open_together(directory / "state.db"), testing::Each(expected_answer()));
}

TEST(SchemaOpenersTest, SixProcessesMayMigrateTheSameOldStoreAtOnce) {
  const TempDir directory;
  for (int round = 0; round < kRounds; ++round) {
    const auto file = directory / ("state.db." + std::to_string(round));
    std::filesystem::copy_file(fixture("old-v0") / "state.db", file);
    std::filesystem::permissions(file, std::filesystem::perms(0600));
  }
  EXPECT_THAT(open_together(directory / "state.db"), testing::Each(expected_answer()));
  const auto database = open_migrated(directory / "state.db.0");
  EXPECT_THAT(
      rows(*database,
           "SELECT id, parent_entry_id FROM messages WHERE thread_id = 'old-1' ORDER BY id"),
      testing::ElementsAre("1|-", "2|3", "3|1", "4|2"));
}

}  // namespace
}  // namespace threadstore::test
