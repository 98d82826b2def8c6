#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>

namespace threadstore::test {

/// What damage may leave of a file: 1 to 512 of its bytes are others, and sometimes its end is torn
/// off. The same for the same seed.
inline std::string mutated(std::string bytes, int seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  for (int changes = 1 << random() % 10; changes > 0; --changes) {
    bytes[random() % bytes.size()] = static_cast<char>(random());
  }
  if (seed % 7 == 0) bytes.resize(random() % bytes.size());
  return bytes;
}

/// Calls `look(seed)` for `count` seeds from 1. THREADSTORE_MUTATIONS sets how many,
/// THREADSTORE_SEED the first; a failure names the one that shows it again.
template <class Look>
void each_seed(int count, Look&& look) {
  const auto setting = [](const char* name, int otherwise) {
    const char* value = std::getenv(name);
    return value == nullptr ? otherwise : std::atoi(value);
  };
  const int first = setting("THREADSTORE_SEED", 1);
  const int last = first + setting("THREADSTORE_MUTATIONS", count);
  for (int seed = first; seed < last; ++seed) {
    SCOPED_TRACE("THREADSTORE_SEED=" + std::to_string(seed) + " THREADSTORE_MUTATIONS=1");
    look(seed);
  }
}

}  // namespace threadstore::test
