// Our check of JSON agrees with the parser that others use, but for the depth.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "tests/fuzz/fuzz_target.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace threadstore;  // NOLINT(google-build-using-namespace): one function
  const std::string text = test::text_of(data, size);
  const auto fault = base::find_json_fault(text);
  if (fault) test::expect(fault->offset <= text.size(), "the fault lies behind the text");
  const auto opened =
      std::count_if(text.begin(), text.end(), [](char c) { return c == '[' || c == '{'; });
  if (static_cast<std::size_t>(opened) > base::max_json_depth) return 0;
  // The parser skips a byte order mark and takes a NUL for the end.
  if (text.starts_with("\xEF\xBB\xBF") || text.find('\0') != std::string::npos) return 0;
  test::expect(!fault == nlohmann::json::accept(text), "the check and the parser differ");
  return 0;
}
