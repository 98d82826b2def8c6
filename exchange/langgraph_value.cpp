#include "exchange/langgraph_value.h"

#include <nlohmann/json.hpp>

#include "base/json.h"

namespace threadstore::exchange {
namespace {

using Json = nlohmann::ordered_json;
constexpr int kDeepest = 50;

std::string hex_of(const Json::binary_t& bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += digits[byte >> 4U];
    text += digits[byte & 15U];
  }
  return text;
}

/// Binary values, which JSON has not, replaced.
void replace_binary(Json& value, int depth) {
  if (value.is_structured()) {
    for (auto& inner : value) replace_binary(inner, depth);
    return;
  }
  if (!value.is_binary()) return;
  const Json::binary_t bytes = value.get_binary();
  Json replaced = Json::object();
  if (bytes.has_subtype()) replaced["ext"] = bytes.subtype();
  Json inner = bytes.has_subtype() && depth < kDeepest
                   ? Json::from_msgpack(bytes.begin(), bytes.end(), true, false)
                   : Json(Json::value_t::discarded);
  if (inner.is_discarded()) {
    replaced["hex"] = hex_of(bytes);
  } else {
    replace_binary(inner, depth + 1);
    replaced["value"] = std::move(inner);
  }
  value = std::move(replaced);
}

std::string text_of(JsonText content) {
  if (content.is_string()) return content.string();
  std::string text;
  content.each([&](JsonText block) {
    const std::string piece = block.is_string() ? block.string() : block["text"].string();
    if (piece.empty()) return;
    if (!text.empty()) text += '\n';
    text += piece;
  });
  return text;
}

std::string role_of(const std::string& kind, JsonText fields) {
  if (kind.starts_with("Human") || kind == "human" || kind == "user") return "user";
  if (kind.starts_with("AI") || kind == "ai" || kind == "assistant") return "assistant";
  if (kind.starts_with("Tool") || kind.starts_with("Function") || kind == "tool" ||
      kind == "function") {
    return "tool";
  }
  if (kind.starts_with("Chat") && !fields["role"].string().empty()) return fields["role"].string();
  return "system";
}

}  // namespace

std::optional<std::string> langgraph_json(const std::string& type, const std::string& bytes) {
  if (type == "json") {
    if (base::find_json_fault(bytes)) return std::nullopt;
    return bytes;
  }
  if (type == "null") return "null";
  if (type != "msgpack") return std::nullopt;
  Json value = Json::from_msgpack(bytes.begin(), bytes.end(), true, false);
  if (value.is_discarded()) return std::nullopt;
  replace_binary(value, 0);
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (base::find_json_fault(text)) return std::nullopt;
  return text;
}

std::optional<LangchainMessage> read_langchain_message(JsonText value) {
  std::string kind;
  JsonText fields = value;
  if (value["type"].raw() == "\"constructor\"") {
    value["id"].each([&](JsonText part) { kind = part.string(); });
    fields = value["kwargs"];
  } else if (value["value"].is_array()) {
    // Python's extension: module, class, fields, method.
    std::size_t place = 0;
    value["value"].each([&](JsonText part) {
      if (place == 1) kind = part.string();
      if (place == 2) fields = part;
      ++place;
    });
  } else {
    kind = value["role"].present() ? value["role"].string() : value["type"].string();
    if (value["data"].is_object()) fields = value["data"];
  }
  if (kind.empty() || !fields["content"].present()) return std::nullopt;
  return LangchainMessage{.role = role_of(kind, fields), .content = text_of(fields["content"])};
}

}  // namespace threadstore::exchange
