#include "exchange/message_parts.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace threadstore::exchange {
namespace {

using Json = nlohmann::json;
using Kind = Part::Kind;

std::string dumped(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string text_of(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_null() ? std::string() : dumped(value);
}

/// The first of these members that is there and not null, as text.
std::string first_of(const Json& object, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto found = object.find(name);
    if (found != object.end() && !found->is_null()) return text_of(*found);
  }
  return {};
}

std::string type_of(const Json& object) {
  return object.is_object() ? first_of(object, {"type", "kind"}) : std::string();
}

bool is_true(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

/// The texts of a list of blocks, or the value itself as text.
std::string block_text(const Json& value) {
  if (!value.is_array()) return text_of(value);
  std::string text;
  for (const Json& block : value) {
    const std::string piece =
        block.is_string() ? block.get<std::string>()
                          : (block.is_object() ? first_of(block, {"text", "thinking"}) : "");
    if (!text.empty() && !piece.empty()) text += '\n';
    text += piece;
  }
  return text;
}

void add_blocks(const Json& content, std::vector<Part>& parts);

Part image_of(const Json& block) {
  const auto source = block.find("source");
  if (source != block.end() && source->is_object() && source->contains("data")) {
    return {Kind::image,
            "data:" + first_of(*source, {"media_type"}) + ";base64," + first_of(*source, {"data"})};
  }
  if (block.contains("data") && block.contains("mimeType")) {
    return {Kind::image,
            "data:" + first_of(block, {"mimeType"}) + ";base64," + first_of(block, {"data"})};
  }
  const auto url = block.find("image_url");
  if (url != block.end() && url->is_object()) return {Kind::image, first_of(*url, {"url"})};
  return {Kind::image, first_of(block, {"image_url", "url", "path"})};
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  for (const std::string_view candidate : words) {
    if (word == candidate) return true;
  }
  return false;
}

/// A call of OpenAI's chat interface, or Codex's older local shell.
Part call_of(const Json& block) {
  const auto function = block.find("function");
  const Json& named = function != block.end() && function->is_object() ? *function : block;
  Part part{Kind::tool_call,
            first_of(named, {"arguments", "input", "args", "action", "parameters"}),
            first_of(named, {"name", "tool_name", "toolName", "tool"}),
            first_of(block, {"call_id", "id", "toolCallId", "tool_call_id", "callID"})};
  if (part.name.empty()) part.name = type_of(block);
  return part;
}

Part result_of(const Json& block) {
  Part part{Kind::tool_result,
            {},
            first_of(block, {"name", "toolName", "tool_name"}),
            first_of(block, {"call_id", "tool_use_id", "toolCallId", "tool_call_id"}),
            is_true(block, "is_error") || is_true(block, "isError")};
  for (const char* name : {"output", "content", "result", "text"}) {
    const auto found = block.find(name);
    if (found == block.end() || found->is_null()) continue;
    part.text = block_text(*found);
    break;
  }
  return part;
}

/// Adds what a block of a known kind says; false for another.
bool add_block(const Json& block, std::vector<Part>& parts) {
  if (block.is_string()) {
    parts.push_back({Kind::text, block.get<std::string>()});
    return true;
  }
  if (!block.is_object()) return false;
  const std::string type = type_of(block);
  if (is_one_of(type, {"text", "input_text", "output_text", "Text"})) {
    parts.push_back({Kind::text, first_of(block, {"text"})});
  } else if (is_one_of(type, {"thinking", "reasoning"})) {
    std::string text = first_of(block, {"thinking", "text"});
    for (const char* name : {"summary", "content"}) {
      const auto found = block.find(name);
      if (text.empty() && found != block.end()) text = block_text(*found);
    }
    if (!text.empty()) parts.push_back({Kind::reasoning, std::move(text)});
  } else if (is_one_of(type, {"image", "input_image", "image_url", "local_image"})) {
    parts.push_back(image_of(block));
  } else if (is_one_of(type, {"tool_use", "toolCall", "function_call", "custom_tool_call",
                              "local_shell_call", "tool_call", "function", "web_search_call",
                              "mcp_call", "tool_search_call", "server_tool_use"})) {
    parts.push_back(call_of(block));
  } else if (is_one_of(type, {"tool_result", "function_call_output", "custom_tool_call_output",
                              "tool_search_output", "local_shell_call_output", "output"})) {
    parts.push_back(result_of(block));
  } else if (is_one_of(type, {"compacted", "compaction", "branch_summary"})) {
    const std::string text = first_of(block, {"summary", "message"});
    if (text.empty()) return false;
    parts.push_back({Kind::summary, text});
  } else if ((type == "message" || type == "custom_message") && block.contains("content")) {
    add_blocks(block["content"], parts);
  } else {
    return false;
  }
  return true;
}

void add_blocks(const Json& content, std::vector<Part>& parts) {
  if (!content.is_array()) {
    if (!add_block(content, parts) && !content.is_null()) {
      parts.push_back({Kind::other, dumped(content)});
    }
    return;
  }
  for (const Json& block : content) {
    if (!add_block(block, parts)) parts.push_back({Kind::other, dumped(block), type_of(block)});
  }
}

/// A message of pi, of an Anthropic or OpenAI interface: a role, and content or calls.
bool add_message(const Json& item, std::vector<Part>& parts) {
  const std::string role = first_of(item, {"role"});
  if (role == "toolResult" || item.contains("tool_call_id")) {
    parts.push_back(result_of(item));
    return true;
  }
  if (role == "bashExecution") {
    parts.push_back({Kind::tool_call, first_of(item, {"command"}), "bash", {}});
    parts.push_back({Kind::tool_result, first_of(item, {"output"}), "bash", {}});
    return true;
  }
  const bool says_something = item.contains("content") || item.contains("tool_calls");
  if (!says_something || (role.empty() && !item.contains("tool_calls"))) return false;
  if (item.contains("content")) add_blocks(item["content"], parts);
  if (const auto calls = item.find("tool_calls"); calls != item.end() && calls->is_array()) {
    for (const Json& call : *calls) {
      if (call.is_object()) parts.push_back(call_of(call));
    }
  }
  return true;
}

bool add_item(const Json& item, std::vector<Part>& parts) {
  if (item.is_array()) {
    if (item.empty() || !item[0].is_object() || type_of(item[0]).empty()) return false;
    add_blocks(item, parts);
    return true;
  }
  if (!item.is_object()) return false;
  // A whole line of a transcript: what matters is inside.
  for (const char* inner : {"payload", "message"}) {
    const auto found = item.find(inner);
    if (found != item.end() && found->is_object() && add_item(*found, parts)) return true;
  }
  return add_block(item, parts) || add_message(item, parts);
}

/// The content stands first unless the item's own texts say the same.
void add_content(const Message& message, std::vector<Part>& parts) {
  if (message.content.empty()) return;
  std::string said;
  for (Part& part : parts) {
    if (part.text == message.content) return;
    if (part.kind != Kind::text) continue;
    if (!said.empty()) said += '\n';
    said += part.text;
  }
  if (said == message.content) return;
  // An output is told shorter or longer in the content: one of both is enough, the content's.
  for (Part& part : parts) {
    if (part.kind == Kind::tool_result && message.role == "tool") {
      part.text = message.content;
      return;
    }
  }
  std::erase_if(parts, [](const Part& part) { return part.kind == Kind::text; });
  parts.insert(parts.begin(), {Kind::text, message.content});
}

}  // namespace

Json item_of(const Message& message) {
  if (!message.item || message.item_damaged) return Json(Json::value_t::discarded);
  return Json::parse(*message.item, nullptr, false);
}

bool is_note(const Message& message, const std::vector<Part>& parts) {
  return message.role != "user" && message.content.empty() &&
         std::all_of(parts.begin(), parts.end(),
                     [](const Part& part) { return part.kind == Kind::other; });
}

std::vector<Part> parts_of(const Message& message) {
  std::vector<Part> parts;
  const Json item = item_of(message);
  if (!item.is_discarded() && !item.is_null() && !add_item(item, parts)) {
    parts.push_back({Kind::other, *message.item, type_of(item)});
  }
  if (message.item_damaged) parts.push_back({Kind::other, *message.item});
  if (parts.empty() && message.role == "tool" && !message.content.empty()) {
    return {{Kind::tool_result, message.content}};
  }
  add_content(message, parts);
  return parts;
}

}  // namespace threadstore::exchange
