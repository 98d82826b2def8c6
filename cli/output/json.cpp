#include "cli/output/json.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace threadstore::cli {
namespace {

// An embedded text is kept as a binary value: documents have no other use for those.
std::string text_of(const Json& value) {
  const auto& bytes = value.get_binary();
  return {bytes.begin(), bytes.end()};
}

std::string dumped(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

Json embedded(const std::string& json_text) {
  std::vector<std::uint8_t> bytes(json_text.begin(), json_text.end());
  // Inside a JSON string a line break is always escaped: these stand between tokens.
  std::replace_if(
      bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == '\n' || byte == '\r'; },
      std::uint8_t{' '});
  return Json::binary(std::move(bytes));
}

void write_json(std::ostream& out, const Json& document) {
  if (document.is_binary()) {
    out << text_of(document);
  } else if (document.is_object()) {
    char separator = '{';
    for (const auto& [key, value] : document.items()) {
      out << separator << dumped(key) << ':';
      write_json(out, value);
      separator = ',';
    }
    out << (document.empty() ? "{}" : "}");
  } else if (document.is_array()) {
    char separator = '[';
    for (const Json& value : document) {
      out << separator;
      write_json(out, value);
      separator = ',';
    }
    out << (document.empty() ? "[]" : "]");
  } else {
    out << dumped(document);
  }
}

}  // namespace threadstore::cli
