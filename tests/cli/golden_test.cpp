#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/transcript.h"
#include "tests/support/temp_dir.h"

namespace threadstore::test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> transcripts() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(THREADSTORE_GOLDEN)) {
    if (entry.path().extension() == ".txt") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class GoldenTest : public testing::TestWithParam<std::string> {};

// With THREADSTORE_APPROVE set (scripts/approve.sh) the files are rewritten instead: read the diff.
TEST_P(GoldenTest, PrintsWhatWasApproved) {
  const fs::path file = fs::path(THREADSTORE_GOLDEN) / (GetParam() + ".txt");
  const Transcript transcript = Transcript::read(file);
  const std::string actual = transcript.run(THREADSTORE_PROGRAM);
  if (std::getenv("THREADSTORE_APPROVE") != nullptr) {
    write_file(file, actual);
  } else {
    EXPECT_EQ(transcript.text(), actual) << "scripts/approve.sh accepts the change";
  }
}

INSTANTIATE_TEST_SUITE_P(Cli, GoldenTest, testing::ValuesIn(transcripts()),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace threadstore::test
