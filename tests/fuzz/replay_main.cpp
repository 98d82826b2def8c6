// Runs a target over the files of the directories that are named: its corpus, as a test.
#include <cstdio>
#include <filesystem>

#include "tests/fuzz/fuzz_target.h"
#include "tests/support/temp_dir.h"

int main(int count, char** arguments) {
  int seen = 0;
  for (int i = 1; i < count; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(arguments[i])) {
      const std::string input = threadstore::test::read_file(entry.path());
      std::printf("%s\n", entry.path().filename().c_str());
      std::fflush(stdout);  // the last name is the input that ended the program
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
      ++seen;
    }
  }
  if (seen == 0) {
    std::fprintf(stderr, "no input in the directories given\n");
    return 1;
  }
  return 0;
}
