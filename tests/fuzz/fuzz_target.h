#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

/// What libFuzzer calls, and the replay of the corpus: looks at one input. A wrong answer aborts.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace threadstore::test {

inline std::string text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Ends the program, naming what was wrong, unless it holds.
void expect(bool holds, const char* what);

}  // namespace threadstore::test
