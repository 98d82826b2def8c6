#include "cli/terminal/item_summary.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "cli/terminal/text.h"

namespace threadstore::cli {
namespace {

using Json = nlohmann::json;

constexpr std::size_t longest_detail = 200;
// A larger item is named by its size: a summary must not parse megabytes for one line.
constexpr std::size_t largest_parsed = std::size_t{1} << 20U;

std::string shortened(std::string_view text) {
  const std::string_view part = cut_at_code_point(text, longest_detail);
  return std::string(part) + (part.size() < text.size() ? "…" : "");
}

std::string text_of(const Json& value) {
  return shortened(value.is_string() ? value.get_ref<const std::string&>()
                                     : value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

// The first of these keys that the object has, as text.
std::string first_of(const Json& object, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    const auto found = object.find(key);
    if (found != object.end() && !found->is_null()) return text_of(*found);
  }
  return {};
}

// An output that the message's content repeats.
bool says_only(const Json& object, std::string_view content) {
  if (content.empty() || !first_of(object, {"type"}).ends_with("output")) return false;
  const auto output = object.find("output");
  return output != object.end() && output->is_string() &&
         output->get_ref<const std::string&>() == content;
}

// The words that tool-calling programs use, in any of their spellings.
std::string object_summary(const Json& object) {
  if (const auto status = object.find("exit_status");
      status != object.end() && object.size() == 1) {
    return "exit status " + text_of(*status);
  }
  std::string out = first_of(object, {"type", "kind"});
  for (const std::string& part :
       {first_of(object, {"name", "tool_name", "tool"}),
        first_of(object, {"arguments", "input", "args", "output", "content", "text"})}) {
    if (!out.empty() && !part.empty()) out += ' ';
    out += part;
  }
  return out;
}

// What other programs keep as a whole message: its text is shown already, so that only its calls
// and pictures are worth a line. Null for anything else.
const Json* blocks_of(const Json& object) {
  const auto inside = [](const Json& outer, const char* key) -> const Json* {
    const auto found = outer.is_object() ? outer.find(key) : outer.end();
    return outer.is_object() && found != outer.end() ? &*found : nullptr;
  };
  const Json* type = inside(object, "type");
  const Json* message = inside(object, "message");
  const Json* blocks = nullptr;
  if (message != nullptr && type != nullptr) {
    blocks = inside(*message, "content");
  } else if (type != nullptr && *type == "message") {
    blocks = inside(object, "content");
  } else if (inside(object, "info") != nullptr) {
    blocks = inside(object, "parts");
  } else if (const Json* fields = inside(object, "kwargs")) {
    static const Json none = Json::array();
    blocks = inside(*fields, "tool_calls");
    if (blocks == nullptr) blocks = &none;
  }
  return blocks;
}

std::string blocks_summary(const Json& blocks) {
  static constexpr std::array<std::string_view, 7> shown{
      "tool_use", "toolCall", "tool_call", "tool", "image", "input_image", "file"};
  std::string summary;
  if (!blocks.is_array()) return summary;
  for (const Json& block : blocks) {
    const std::string type = block.is_object() ? first_of(block, {"type"}) : "";
    if (std::find(shown.begin(), shown.end(), type) == shown.end()) continue;
    summary += (summary.empty() ? "" : "; ") + object_summary(block);
  }
  return shortened(summary);
}

}  // namespace

std::string item_summary(const std::string& item, bool damaged, std::string_view content) {
  if (damaged) return "damaged item: " + shortened(item);
  if (item.size() > largest_parsed) return "item of " + std::to_string(item.size()) + " bytes";
  const Json value = Json::parse(item, nullptr, false);
  if (value.is_array() && !value.empty()) {
    std::string first = value[0].is_object() ? object_summary(value[0]) : "";
    if (first.empty()) first = shortened(item);
    return std::to_string(value.size()) + (value.size() == 1 ? " item: " : " items: ") + first;
  }
  if (const Json* blocks = value.is_object() ? blocks_of(value) : nullptr) {
    return blocks_summary(*blocks);
  }
  if (value.is_object() && says_only(value, content)) return {};
  const std::string known = value.is_object() ? object_summary(value) : "";
  return known.empty() ? shortened(item) : known;
}

}  // namespace threadstore::cli
