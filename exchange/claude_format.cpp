#include "exchange/claude_format.h"

#include <deque>
#include <map>

#include "base/rfc3339.h"
#include "exchange/import_job.h"
#include "exchange/json_lines.h"

namespace threadstore::exchange {
namespace {

using Path = std::filesystem::path;

bool is_gemini(JsonText line) { return line["projectHash"].present() || line["$set"].present(); }

bool is_claude_line(JsonText line) {
  return line["sessionId"].is_string() && (line["type"].is_string() || line["uuid"].is_string());
}

/// Lines without a session id that a transcript may begin with.
bool is_claude_metadata(JsonText line) {
  const std::string type = line["type"].string();
  return (type == "summary" && line["leafUuid"].present()) || type == "file-history-snapshot" ||
         type == "queue-operation";
}

struct Shown {
  std::string text{};
  bool has_text = false;
  bool has_result = false;
};

void add_text(Shown& shown, const std::string& text) {
  if (!shown.text.empty()) shown.text += '\n';
  shown.text += text;
}

/// The texts of a message, and of the tool results in it when it has no other.
Shown shown_of(JsonText content) {
  if (content.is_string()) return {.text = content.string(), .has_text = true};
  Shown shown;
  Shown results;
  content.each([&](JsonText block) {
    const std::string type = block["type"].string();
    if (type == "text") {
      shown.has_text = true;
      add_text(shown, block["text"].string());
    } else if (type == "tool_result") {
      shown.has_result = true;
      add_text(results, shown_of(block["content"]).text);
    }
  });
  if (!shown.has_text && shown.has_result) shown.text = results.text;
  return shown;
}

void set_message(JsonText line, const std::string& type, NewMessage& message) {
  const Shown shown = shown_of(line["message"]["content"]);
  message.content = shown.text;
  message.role = "system";
  if (type == "assistant") {
    message.role = "assistant";
  } else if (type == "user" && shown.has_result && !shown.has_text) {
    message.role = "tool";
  } else if (type == "user" && !line["isMeta"].is_true() && !line["isCompactSummary"].is_true()) {
    message.role = "user";
  } else if (!line["message"].present()) {
    message.content = line["content"].string();
  }
}

/// The ids of lines that are no messages, with what they hang under, so that their children can be
/// linked over them. Remembers the last ones only: children follow soon.
class PassedOver {
 public:
  void add(const std::string& id, std::optional<std::string> parent) {
    parents_[id] = std::move(parent);
    order_.push_back(id);
    if (order_.size() > kMost) {
      parents_.erase(order_.front());
      order_.pop_front();
    }
  }

  std::optional<std::string> resolve(std::optional<std::string> id) const {
    for (std::size_t steps = 0; id && steps < kMost; ++steps) {
      const auto found = parents_.find(*id);
      if (found == parents_.end()) break;
      id = found->second;
    }
    return id;
  }

 private:
  static constexpr std::size_t kMost = 10'000;
  std::map<std::string, std::optional<std::string>> parents_;
  std::deque<std::string> order_;
};

class ClaudeReader {
 public:
  ClaudeReader(const Path& file, ImportJob& job) : file_(file), job_(job) {}

  void add(JsonText line, std::int64_t number) {
    const std::string type = line["type"].string();
    const auto uuid = line["uuid"].string_or_none();
    if (!uuid) return add_metadata(line, type);
    auto parent = line["parentUuid"].string_or_none();
    // Behind a compaction the chain goes on at what was compacted.
    if (!parent) parent = line["logicalParentUuid"].string_or_none();
    if (type == "progress") {
      passed_over_.add(*uuid, parent);
      return;
    }
    if (!begun_) begin(line);
    MessageRecord record{.key = message_key("claude", *uuid), .line = number};
    parent = passed_over_.resolve(parent);
    if (parent) record.parent = message_key("claude", *parent);
    if (const auto original = line["forkedFrom"]["messageUuid"].string_or_none()) {
      record.origin_key = message_key("claude", *original);
    }
    record.message.item = std::string(line.raw());
    record.message.created_at = base::parse_rfc3339(line["timestamp"].string());
    set_message(line, type, record.message);
    const bool conversation = type == "user" || type == "assistant";
    if (conversation && !line["isSidechain"].is_true()) leaf_ = record.key;
    last_ = record.key;
    job_.writer().add(std::move(record));
  }

  void finish() {
    if (!begun_) return;
    SessionEnd end{.leaf = leaf_ ? leaf_ : last_};
    for (const auto& name : {custom_title_, ai_title_, summary_}) {
      if (!end.name && name && !name->empty()) end.name = name;
    }
    job_.writer().end(std::move(end));
  }

 private:
  void add_metadata(JsonText line, const std::string& type) {
    if (type == "custom-title") custom_title_ = line["customTitle"].string_or_none();
    if (type == "ai-title") ai_title_ = line["aiTitle"].string_or_none();
    if (type == "summary") summary_ = line["summary"].string_or_none();
  }

  void begin(JsonText line) {
    begun_ = true;
    std::string id = line["sessionId"].string();
    if (id.empty()) id = file_.stem().string();
    SessionRecord session{
        .source = "claude",
        .source_id = std::move(id),
        .thread = {.cwd = line["cwd"].string(),
                   .model_provider = "anthropic",
                   .cli_version = line["version"].string(),
                   .rollout_path = file_.string(),
                   .git_branch = line["gitBranch"].string_or_none(),
                   .created_at = base::parse_rfc3339(line["timestamp"].string())}};
    if (session.thread.git_branch && session.thread.git_branch->empty()) {
      session.thread.git_branch.reset();
    }
    if (const auto source = line["forkedFrom"]["sessionId"].string_or_none()) {
      session.origin = Origin{thread_id_of("claude", *source), {}};
    }
    job_.writer().begin(file_, std::move(session));
  }

  Path file_;
  ImportJob& job_;
  bool begun_ = false;
  PassedOver passed_over_;
  std::optional<std::string> leaf_{}, last_{};
  std::optional<std::string> custom_title_{}, ai_title_{}, summary_{};
};

class ClaudeFormat : public Format {
 public:
  std::string_view name() const override { return "a Claude Code transcript"; }

  bool recognises(const Head& head) const override {
    const auto objects = head.objects();
    if (objects.empty() || is_gemini(JsonText(objects.front()))) return false;
    bool found = false;
    for (const std::string_view object : objects) {
      const JsonText line(object);
      if (is_gemini(line)) return false;
      found = found || is_claude_line(line) || is_claude_metadata(line);
    }
    return found;
  }

  Identity identify(const Head& head) override {
    Identity identity;
    for (const std::string_view object : head.objects()) {
      const JsonText line(object);
      if (!line["uuid"].is_string()) continue;
      identity.session = line["sessionId"].string();
      if (const auto source = line["forkedFrom"]["sessionId"].string_or_none()) {
        identity.needs.push_back(*source);
      }
      break;
    }
    return identity;
  }

  void read(const Path& file, ImportJob& job) override {
    ClaudeReader reader(file, job);
    each_json_line(file, job,
                   [&](JsonText line, std::int64_t number) { reader.add(line, number); });
    reader.finish();
  }
};

}  // namespace

std::unique_ptr<Format> make_claude_format() { return std::make_unique<ClaudeFormat>(); }

}  // namespace threadstore::exchange
