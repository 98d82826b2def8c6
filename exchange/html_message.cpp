#include "exchange/html_message.h"

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/rfc3339.h"
#include "exchange/html_text.h"
#include "exchange/message_parts.h"
#include "exchange/readable_text.h"

namespace threadstore::exchange {
namespace {

using Json = nlohmann::ordered_json;
using Kind = Part::Kind;

constexpr std::size_t kLargestIndented = std::size_t{1} << 20U;

Json parsed(const std::string& text) {
  const bool readable = text.size() <= kLargestIndented && !base::find_json_fault(text);
  return readable ? Json::parse(text, nullptr, false) : Json(Json::value_t::discarded);
}

/// JSON over several lines; an object of one text is that text.
std::string indented(const std::string& text) {
  const Json value = parsed(text);
  if (!value.is_structured()) return text;
  if (value.is_object() && value.size() == 1 && value.front().is_string()) {
    return value.front().get<std::string>();
  }
  return value.dump(2, ' ', false, Json::error_handler_t::replace);
}

/// What a call is about, at a glance: its command or path, else the beginning of its arguments.
std::string peek(const std::string& arguments) {
  const Json value = parsed(arguments);
  if (!value.is_object()) return one_line(arguments, 100);
  for (const char* name : {"command", "cmd", "file_path", "path", "pattern", "query", "url"}) {
    const auto found = value.find(name);
    if (found == value.end()) continue;
    if (found->is_string()) return one_line(found->get_ref<const std::string&>(), 100);
    if (!found->is_array()) continue;
    std::string words;
    for (const Json& word : *found) {
      if (word.is_string()) words += (words.empty() ? "" : " ") + word.get<std::string>();
    }
    return one_line(words, 100);
  }
  return one_line(value.empty() ? "" : arguments, 100);
}

std::string folded(const std::string& kind, const std::string& name, const std::string& glance,
                   const std::string& inner) {
  return "<details class=\"" + kind + "\"><summary><span class=\"name\">" + html_text(name) +
         "</span>" +
         (glance.empty() ? "" : "<span class=\"peek\">" + html_text(glance) + "</span>") +
         "</summary><div>" + inner + "</div></details>\n";
}

std::string block(const std::string& text) {
  return "<pre><code>" + html_text(text) + "</code></pre>\n";
}

/// Pictures that the page carries itself; of known kinds, so that none is a document with scripts.
std::string picture(const std::string& address) {
  for (const char* kind : {"png", "jpeg", "jpg", "gif", "webp"}) {
    const std::string beginning = std::string("data:image/") + kind + ";base64,";
    const bool clean = address.find_first_of("\"'<> ") == std::string::npos;
    if (address.starts_with(beginning) && clean) {
      return "<p><img class=\"image\" alt=\"Image\" src=\"" + html_text(address) + "\"></p>\n";
    }
  }
  const std::string said = address.starts_with("data:") ? "embedded" : one_line(address, 200);
  return "<p class=\"empty\">Image: " + html_text(said) + "</p>\n";
}

std::string html_of(const Part& part, const Message& message) {
  const bool plain = message.role == "system" || message.role == "developer";
  switch (part.kind) {
    case Kind::text:
      if (plain && part.text.size() > 600) {
        return folded("text", "Instructions", one_line(part.text, 100), block(part.text));
      }
      return html_of_markdown(part.text, message.role != "assistant");
    case Kind::reasoning:
      return folded("thinking", "Thinking", one_line(part.text, 100),
                    html_of_markdown(part.text, false));
    case Kind::summary:
      return folded("summary", "Summary of what was before", one_line(part.text, 80),
                    html_of_markdown(part.text, false));
    case Kind::image:
      return picture(part.text);
    case Kind::tool_call:
      return folded("call", part.name.empty() ? "Tool call" : part.name, peek(part.text),
                    block(indented(part.text)));
    case Kind::tool_result:
      return folded(part.is_error ? "result failed" : "result", part.is_error ? "Error" : "Output",
                    one_line(part.text, 100), block(part.text));
    case Kind::other:
      return folded("other", part.name.empty() ? "Item" : part.name, one_line(part.text, 100),
                    block(indented(part.text)));
  }
  return {};
}

/// Roles as a class: those that the style knows.
std::string class_of(const Message& message, const std::vector<Part>& parts) {
  if (is_note(message, parts)) return "note";
  for (const char* role : {"user", "assistant", "system", "developer", "tool"}) {
    if (message.role == role) return role;
  }
  const bool result = parts.size() == 1 && parts.front().kind == Kind::tool_result;
  return result ? "tool" : "other";
}

}  // namespace

std::string html_of_message(const Message& message) {
  const std::vector<Part> parts = parts_of(message);
  const std::string id = std::to_string(to_int(message.id));
  std::string html = "<article class=\"message " + class_of(message, parts) + "\" id=\"m" + id +
                     "\"><header><span class=\"role\">" + html_text(role_title(message.role)) +
                     "</span><time datetime=\"" +
                     base::format_rfc3339(message.created_at * 1000).substr(0, 19) + "Z\">" +
                     readable_time(message.created_at) + "</time><a class=\"here\" href=\"#m" + id +
                     "\">#" + id + "</a></header><div class=\"body\">\n";
  if (message.checksum_mismatch || message.item_damaged) {
    html +=
        "<p class=\"warning\">This message is damaged: its bytes are not what was stored.</p>\n";
  }
  for (const Part& part : parts) html += html_of(part, message);
  return html + "</div></article>\n";
}

std::string html_preview(const Message& message) {
  const std::vector<Part> parts = parts_of(message);
  for (const Part& part : parts) {
    if (part.kind == Kind::text) return html_text(one_line(part.text, 60));
  }
  for (const Part& part : parts) {
    if (part.kind == Kind::tool_call) return html_text(one_line(part.name, 60));
  }
  return html_text(role_title(message.role));
}

}  // namespace threadstore::exchange
