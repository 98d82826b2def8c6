#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/fuzz_target.h"

void threadstore::test::expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: %s\n", what);
  std::abort();
}
