#include "exchange/codex_items.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "exchange/codex_content.h"
#include "exchange/json_text.h"
#include "exchange/message_parts.h"

namespace threadstore::exchange {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 16> kItemTypes{"message",
                                                      "reasoning",
                                                      "function_call",
                                                      "function_call_output",
                                                      "custom_tool_call",
                                                      "custom_tool_call_output",
                                                      "local_shell_call",
                                                      "web_search_call",
                                                      "image_generation_call",
                                                      "tool_search_call",
                                                      "tool_search_output",
                                                      "compaction",
                                                      "context_compaction",
                                                      "agent_message",
                                                      "tool_search_call_output",
                                                      "local_shell_call_output"};
constexpr std::array<std::string_view, 12> kEventTypes{
    "task_started",      "task_complete",     "turn_started",        "turn_complete",
    "turn_aborted",      "context_compacted", "entered_review_mode", "exited_review_mode",
    "mcp_tool_call_end", "patch_apply_end",   "web_search_end",      "thread_goal_updated"};

std::string dumped(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool is_session_meta(const Json& item) {
  return !item.contains("type") && item.contains("originator") && item.contains("cli_version");
}

/// An item that already is what a rollout holds: the payload, or the whole line.
bool add_own(const Message& message, std::vector<CodexLine>& lines) {
  if (!message.item || message.item_damaged) return false;
  // Read as a document only to be told apart; what is written is the text as it stands.
  const auto item = nlohmann::ordered_json::parse(*message.item, nullptr, false);
  if (!item.is_object()) return false;
  const auto word = [](const Json& object, const char* name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  const std::string type = word(item, "type");
  // The head of a session that was imported: `write_codex` made it anew.
  if (type == "session_meta" || (message.role == "system" && is_session_meta(item))) return true;
  if (std::find(kEventTypes.begin(), kEventTypes.end(), type) != kEventTypes.end()) {
    lines.push_back({"event_msg", dumped(item)});
    return true;
  }
  if (const auto payload = item.find("payload"); payload != item.end() && payload->is_object()) {
    if (type != "response_item" && type != "event_msg" && type != "compacted") return false;
    lines.push_back({type, dumped(*payload)});
    return true;
  }
  if (std::find(kItemTypes.begin(), kItemTypes.end(), type) == kItemTypes.end()) return false;
  // Others have words like "message" too: Codex's says its role and a list of content.
  if (type == "message" &&
      (!item.contains("role") || !item.contains("content") || !item["content"].is_array()))
    return false;
  if (type.ends_with("_output") && word(item, "call_id").empty()) return false;
  std::string text = *message.item;
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  lines.push_back({"response_item", std::move(text)});
  return true;
}

Json content_of(const std::string& role, const std::vector<Part>& parts) {
  Json content = Json::array();
  for (const Part& part : parts) {
    if (part.kind == Part::Kind::text) {
      content.push_back(
          {{"type", role == "assistant" ? "output_text" : "input_text"}, {"text", part.text}});
    } else if (part.kind == Part::Kind::image) {
      content.push_back({{"type", "input_image"}, {"image_url", part.text}});
    }
  }
  return content;
}

/// Codex knows these roles; what another one said reaches the model as an instruction would.
std::string codex_role(const std::string& role) {
  if (role == "user" || role == "assistant" || role == "system") return role;
  return "developer";
}

std::string call_id(const Part& part, const Message& message) {
  return part.call_id.empty() ? "call_" + std::to_string(to_int(message.id)) : part.call_id;
}

/// Arguments are a JSON object in a string; anything else becomes one.
std::string arguments_of(const Part& part) {
  const auto value = Json::parse(part.text, nullptr, false);
  if (value.is_object()) return part.text;
  return part.text.empty() ? "{}" : dumped({{"input", part.text}});
}

void add_item(std::vector<CodexLine>& lines, const Json& payload) {
  lines.push_back({"response_item", dumped(payload)});
}

void add_part(const Part& part, const Message& message, std::vector<CodexLine>& lines) {
  switch (part.kind) {
    case Part::Kind::reasoning:
      add_item(lines, {{"type", "reasoning"},
                       {"summary", Json::array({{{"type", "summary_text"}, {"text", part.text}}})},
                       {"content", nullptr},
                       {"encrypted_content", nullptr}});
      break;
    case Part::Kind::tool_call:
      add_item(lines, {{"type", "function_call"},
                       {"name", part.name},
                       {"arguments", arguments_of(part)},
                       {"call_id", call_id(part, message)}});
      break;
    case Part::Kind::tool_result:
      if (part.call_id.empty()) {
        // An output without its call is refused by models: it is told as a message.
        add_item(lines,
                 {{"type", "message"},
                  {"role", "developer"},
                  {"content", Json::array({{{"type", "input_text"}, {"text", part.text}}})}});
      } else {
        add_item(
            lines,
            {{"type", "function_call_output"}, {"call_id", part.call_id}, {"output", part.text}});
      }
      break;
    case Part::Kind::summary:
      lines.push_back({"compacted", dumped({{"message", part.text}})});
      break;
    case Part::Kind::text:
    case Part::Kind::image:
    case Part::Kind::other:
      break;
  }
}

/// The lists and the resumed screen of Codex are made of these.
void add_events(const Message& message, std::vector<CodexLine>& lines) {
  const auto says = std::find_if(lines.begin(), lines.end(), [](const CodexLine& line) {
    return line.type == "response_item" && JsonText(line.payload)["type"].string() == "message";
  });
  if (says == lines.end() || message.content.empty()) return;
  if (message.role == "user" && !looks_injected(message.content)) {
    const Json event{{"type", "user_message"},
                     {"message", message.content},
                     {"images", Json::array()},
                     {"local_images", Json::array()},
                     {"text_elements", Json::array()}};
    lines.push_back({"event_msg", dumped(event)});
  } else if (message.role == "assistant") {
    const Json event{{"type", "agent_message"}, {"message", message.content}};
    lines.insert(says, {"event_msg", dumped(event)});
  }
}

}  // namespace

std::vector<CodexLine> codex_lines(const Message& message) {
  std::vector<CodexLine> lines;
  if (!add_own(message, lines)) {
    const std::vector<Part> parts = parts_of(message);
    const std::string role = codex_role(message.role);
    const auto says = [](const Part& part) {
      return part.kind == Part::Kind::text || part.kind == Part::Kind::image;
    };
    for (const Part& part : parts) {
      if (part.kind == Part::Kind::reasoning) add_part(part, message, lines);
    }
    if (std::any_of(parts.begin(), parts.end(), says)) {
      add_item(lines, {{"type", "message"}, {"role", role}, {"content", content_of(role, parts)}});
    }
    for (const Part& part : parts) {
      if (part.kind != Part::Kind::reasoning) add_part(part, message, lines);
    }
  }
  add_events(message, lines);
  return lines;
}

}  // namespace threadstore::exchange
