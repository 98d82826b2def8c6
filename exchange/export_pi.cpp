#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "base/rfc3339.h"
#include "exchange/export_formats.h"
#include "exchange/foreign_ids.h"
#include "exchange/message_parts.h"
#include "exchange/segments.h"

// A pi session of version 3: every branch, the followed one last, since pi goes on from a file's
// last entry. An item that pi wrote goes back as it was, with its id if nobody else has it.
namespace threadstore::exchange {
namespace {

using Json = nlohmann::ordered_json;

std::string entry_id(MessageId id) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "%08llx", static_cast<unsigned long long>(to_int(id)));
  return text.data();
}

std::string time_of(UnixSeconds time) { return base::format_rfc3339(time * 1000); }

void put(std::ostream& out, const Json& line) {
  out << line.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
}

Json text_block(const std::string& text) { return {{"type", "text"}, {"text", text}}; }

Json image_block(const std::string& address) {
  const std::size_t comma = address.find(',');
  const std::size_t semicolon = address.find(';');
  if (!address.starts_with("data:") || comma == address.npos || semicolon > comma) {
    return text_block("[image: " + address + "]");
  }
  return {{"type", "image"},
          {"data", address.substr(comma + 1)},
          {"mimeType", address.substr(5, semicolon - 5)}};
}

Json blocks(const std::vector<Part>& parts, bool assistant) {
  Json content = Json::array();
  for (const Part& part : parts) {
    switch (part.kind) {
      case Part::Kind::image:
        content.push_back(image_block(part.text));
        break;
      case Part::Kind::reasoning:
        if (assistant) content.push_back({{"type", "thinking"}, {"thinking", part.text}});
        break;
      case Part::Kind::tool_call: {
        if (!assistant) break;
        Json arguments = Json::parse(part.text, nullptr, false);
        if (!arguments.is_object()) arguments = {{"input", part.text}};
        content.push_back({{"type", "toolCall"},
                           {"id", part.call_id},
                           {"name", part.name},
                           {"arguments", std::move(arguments)}});
        break;
      }
      case Part::Kind::text:
      case Part::Kind::summary:
      case Part::Kind::tool_result:
        content.push_back(text_block(part.text));
        break;
      case Part::Kind::other:
        break;
    }
  }
  return content;
}

bool calls_tools(const std::vector<Part>& parts) {
  for (const Part& part : parts) {
    if (part.kind == Part::Kind::tool_call) return true;
  }
  return false;
}

Json assistant_message(const Message& message, const std::vector<Part>& parts,
                       const std::string& provider) {
  const Json cost{{"input", 0}, {"output", 0}, {"cacheRead", 0}, {"cacheWrite", 0}, {"total", 0}};
  return {{"role", "assistant"},
          {"content", blocks(parts, true)},
          {"api", "unknown"},
          {"provider", provider},
          {"model", "unknown"},
          {"usage",
           {{"input", 0},
            {"output", 0},
            {"cacheRead", 0},
            {"cacheWrite", 0},
            {"totalTokens", 0},
            {"cost", cost}}},
          {"stopReason", calls_tools(parts) ? "toolUse" : "stop"},
          {"timestamp", message.created_at * 1000}};
}

/// The result that a message consists of; null when it says something else.
const Part* only_result(const std::vector<Part>& parts) {
  const bool one = parts.size() == 1 && parts[0].kind == Part::Kind::tool_result;
  return one && !parts[0].call_id.empty() ? parts.data() : nullptr;
}

/// What stands in an entry of our own making behind type, id, parent and time.
Json said(const Message& message, const std::string& provider) {
  const std::vector<Part> parts = parts_of(message);
  if (const Part* result = only_result(parts)) {
    return {{"type", "message"},
            {"message",
             {{"role", "toolResult"},
              {"toolCallId", result->call_id},
              {"toolName", result->name.empty() ? "tool" : result->name},
              {"content", Json::array({text_block(result->text)})},
              {"isError", result->is_error},
              {"timestamp", message.created_at * 1000}}}};
  }
  if (message.role == "assistant") {
    return {{"type", "message"}, {"message", assistant_message(message, parts, provider)}};
  }
  if (message.role == "user") {
    return {{"type", "message"},
            {"message",
             {{"role", "user"},
              {"content", blocks(parts, false)},
              {"timestamp", message.created_at * 1000}}}};
  }
  // Roles that pi does not know: sent to the model, and shown, as what an extension adds.
  return {{"type", "custom_message"},
          {"customType", "threadstore." + message.role},
          {"content", blocks(parts, false)},
          {"display", true}};
}

std::string word(const Json& object, const char* name) {
  if (!object.is_object()) return {};
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// The first line of a session that was imported: it was written anew.
bool is_header(const Message& message) {
  if (!message.item || message.item_damaged || !message.content.empty()) return false;
  return word(Json::parse(*message.item, nullptr, false), "type") == "session";
}

/// The entry, or the message in it, when pi wrote the item; else null.
Json own_entry(const Message& message) {
  if (!message.item || message.item_damaged) return nullptr;
  Json item = Json::parse(*message.item, nullptr, false);
  if (!item.is_object()) return nullptr;
  const std::string type = word(item, "type");
  if (item.contains("parentId") && !type.empty()) return type == "session" ? Json(nullptr) : item;
  const std::string role = word(item, "role");
  const bool by_pi = role == "toolResult" || role == "bashExecution" ||
                     (role == "assistant" && item.contains("stopReason"));
  if (type.empty() && by_pi) return {{"type", "message"}, {"message", std::move(item)}};
  return nullptr;
}

class Writer {
 public:
  Writer(ExportSource& source, std::ostream& out)
      : source_(source), out_(out), ids_(source.nodes().size()) {}

  void write() {
    const Thread& thread = source_.thread();
    put(out_, {{"type", "session"},
               {"version", 3},
               {"id", uuid_for(thread.id.str())},
               {"timestamp", time_of(thread.created_at)},
               {"cwd", thread.cwd}});
    std::optional<MessageId> last;
    for (const Segment& segment : segments_of(source_, BranchOrder::followed_last)) {
      for (const std::size_t node : segment.nodes) {
        write_entry(node);
        last = source_.nodes()[node].id;
      }
    }
    const bool named = thread.name && !thread.name->empty() && *thread.name != name_;
    const auto leaf = source_.leaf();
    if (named) {
      write_extra(leaf, {{"type", "session_info"}, {"name", *thread.name}});
    } else if (leaf && last != leaf) {
      // The thread was set back: pi goes on from the last entry, so one stands there.
      write_extra(
          leaf, {{"type", "custom"}, {"customType", "threadstore.leaf"}, {"data", Json::object()}});
    }
  }

 private:
  void write_entry(std::size_t node) {
    const Message& message = source_.message(node);
    if (is_header(message)) {
      const auto above =
          message.parent_entry_id ? source_.index_of(*message.parent_entry_id) : std::nullopt;
      if (above) ids_[node] = ids_[*above];
      return;
    }
    const Json own = own_entry(message);
    if (word(own, "type") == "session_info") name_ = word(own, "name");
    const Json content = own.is_null() ? said(message, provider()) : own;
    std::string id = word(own, "id");
    if (id.empty() || used_.contains(id)) id = entry_id(message.id);
    while (used_.contains(id)) id += "0";
    used_.insert(id);
    ids_[node] = id;
    std::string time = word(own, "timestamp");
    if (time.empty()) time = time_of(message.created_at);
    put_entry(content, id, message.parent_entry_id, time);
  }

  /// An entry that is no message.
  void write_extra(std::optional<MessageId> parent, const Json& content) {
    std::string id = entry_id(MessageId{to_int(source_.store().messages().newest_id()) + 1});
    while (used_.contains(id)) id += "0";
    put_entry(content, id, parent, time_of(source_.thread().updated_at));
  }

  void put_entry(const Json& content, const std::string& id, std::optional<MessageId> parent,
                 const std::string& time) {
    const auto above = parent ? source_.index_of(*parent) : std::nullopt;
    Json line{{"type", content.at("type")},
              {"id", id},
              {"parentId", above && !ids_[*above].empty() ? Json(ids_[*above]) : Json(nullptr)},
              {"timestamp", time}};
    for (const auto& [name, value] : content.items()) {
      if (!line.contains(name)) line[name] = value;
    }
    put(out_, line);
  }

  std::string provider() const {
    const std::string& name = source_.thread().model_provider;
    return name.empty() ? "unknown" : name;
  }

  ExportSource& source_;
  std::ostream& out_;
  std::vector<std::string> ids_;  ///< of the entries that were written, by node
  std::set<std::string> used_;
  std::string name_;  ///< that the entries gave the session
};

}  // namespace

void write_pi(ExportSource& source, std::ostream& out) { Writer(source, out).write(); }

}  // namespace threadstore::exchange
