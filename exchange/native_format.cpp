#include "exchange/native_format.h"

#include "base/json.h"

namespace threadstore::exchange {

void add_json(JsonObject& line, const std::string& name, const std::string& json) {
  const bool one_line = json.find_first_of("\n\r") == std::string::npos;
  // White space around a value would not come back, and null says that there is none.
  const bool bare = !json.empty() && json.front() != ' ' && json.front() != '\t' &&
                    json.back() != ' ' && json.back() != '\t' && json != "null";
  if (!one_line || !bare || base::find_json_fault(json)) {
    line.text(name + "_text", std::string_view(json));
  } else {
    line.raw(name, json);
  }
}

}  // namespace threadstore::exchange
