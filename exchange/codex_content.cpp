#include "exchange/codex_content.h"

#include <algorithm>
#include <array>

#include "base/json.h"

namespace threadstore::exchange {
namespace {

constexpr std::array<std::string_view, 5> kInjected{"<environment_context>", "<user_instructions>",
                                                    "# AGENTS.md", "<turn_aborted>",
                                                    "<user_shell_command>"};

bool is_image_wrapper(const std::string& text) {
  return text == "</image>" || (text.starts_with("<image name=") && text.ends_with(">"));
}

/// A tool's output: text, or a list of content items. Codex 0.42 put an object into the text.
std::string output_text(JsonText output) {
  if (output.is_array()) return codex_text(output);
  std::string text = output.string();
  if (text.starts_with("{\"output\":") && !base::find_json_fault(text)) {
    const JsonText inner(text);
    if (inner["metadata"].present() && inner["output"].is_string()) return inner["output"].string();
  }
  return text;
}

bool has_user_kind(JsonText payload) {
  bool found = false;
  payload["internal_chat_message_metadata_passthrough"]["content_item_kinds"].each(
      [&](JsonText kind) { found = found || kind.string().starts_with("user."); });
  return found;
}

}  // namespace

bool looks_injected(std::string_view text) {
  return std::any_of(kInjected.begin(), kInjected.end(),
                     [&](std::string_view beginning) { return text.starts_with(beginning); });
}

std::string codex_text(JsonText content) {
  if (content.is_string()) return content.string();
  std::string text;
  bool image = false;
  content.each([&](JsonText part) {
    const std::string type = part["type"].string();
    image = image || type == "input_image" || type == "local_image";
  });
  content.each([&](JsonText part) {
    const auto piece = part["text"].string_or_none();
    if (!piece || (image && is_image_wrapper(*piece))) return;
    if (!text.empty()) text += '\n';
    text += *piece;
  });
  return text;
}

CodexItem read_codex_item(JsonText payload) {
  CodexItem item{.type = payload["type"].string(), .id = payload["id"].string()};
  const std::string& type = item.type;
  if (type == "message") {
    item.role = payload["role"].string();
    item.content = codex_text(payload["content"]);
    item.user_kind = has_user_kind(payload);
    item.looks_injected = looks_injected(item.content);
  } else if (type.ends_with("_output")) {
    item.role = "tool";
    item.content = output_text(payload["output"]);
  } else if (type == "compaction" || type == "context_compaction") {
    item.role = "system";
  } else {
    item.role = "assistant";
    if (type == "agent_message") item.content = codex_text(payload["content"]);
  }
  if (item.role.empty()) item.role = "system";
  return item;
}

}  // namespace threadstore::exchange
