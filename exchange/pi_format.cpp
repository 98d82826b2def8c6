#include "exchange/pi_format.h"

#include <deque>

#include "base/rfc3339.h"
#include "exchange/import_job.h"
#include "exchange/json_lines.h"
#include "threadstore/transfer.h"

namespace threadstore::exchange {
namespace {

using Path = std::filesystem::path;

bool is_header(JsonText line) {
  return line["type"].raw() == "\"session\"" &&
         (line["version"].present() || (line["cwd"].is_string() && line["id"].is_string()));
}

/// The texts of a content that is a string or a list of blocks.
std::string text_of(JsonText content) {
  if (content.is_string()) return content.string();
  std::string text;
  content.each([&](JsonText block) {
    const auto piece = block["text"].string_or_none();
    if (!piece) return;
    if (!text.empty()) text += '\n';
    text += *piece;
  });
  return text;
}

/// "…/<time>_<id>.jsonl": the id of the session that a fork names by its file.
std::string session_in(const std::string& file) {
  const std::string stem = Path(file).stem().string();
  const std::size_t underscore = stem.find('_');
  return underscore == std::string::npos ? stem : stem.substr(underscore + 1);
}

void set_message(JsonText entry, NewMessage& message) {
  const JsonText given = entry["message"];
  const std::string role = given["role"].string();
  message.content = text_of(given["content"]);
  if (role == "user" || role == "assistant") {
    message.role = role;
  } else if (role == "toolResult") {
    message.role = "tool";
  } else if (role == "bashExecution") {
    message.role = "tool";
    message.content = given["output"].string();
  } else {
    message.role = "system";
    if (message.content.empty()) message.content = given["summary"].string();
  }
}

void set_entry(JsonText entry, const std::string& type, NewMessage& message) {
  message.role = "system";
  if (type == "compaction" || type == "branch_summary") {
    message.content = entry["summary"].string();
  } else if (type == "custom_message") {
    message.content = text_of(entry["content"]);
  } else if (type == "label") {
    message.content = entry["label"].string();
  } else if (type == "session_info") {
    message.content = entry["name"].string();
  }
}

/// One file, entry by entry. Every entry becomes a message, since the others' parents may be any.
class PiReader {
 public:
  PiReader(const Path& file, ImportJob& job) : file_(file), job_(job) {}

  void add(JsonText line, std::int64_t number) {
    if (!begun_) {
      job_.writer().flush();  // what an earlier file brought is to be found
      begin(line, number);
      if (is_header(line)) return;
    }
    const std::string type = line["type"].string();
    if (type == "session") return;
    ++entries_;
    MessageRecord record{.line = number};
    // Version 1 had no ids; pi gives them when it next writes the file, in the same order.
    const std::string numbered = message_key("pi", "n" + std::to_string(entries_));
    const auto id = line["id"].string_or_none();
    if (id) {
      record.key = message_key("pi", *id);
      record.former_key = numbered;
      if (const auto parent = line["parentId"].string_or_none()) {
        record.parent = message_key("pi", *parent);
      }
    } else {
      record.key = numbered;
      record.parent = last_;
    }
    record.message.item = std::string(line.raw());
    record.message.created_at = base::parse_rfc3339(line["timestamp"].string());
    if (type == "message") {
      set_message(line, record.message);
    } else {
      set_entry(line, type, record.message);
    }
    if (!id) record.former_key = migrated_key(record.message);
    if (type == "session_info") name_ = line["name"].string_or_none();
    if (type == "model_change" && !end_.late.model_provider) {
      end_.late.model_provider = line["provider"].string();
    }
    last_ = record.key;
    job_.writer().add(std::move(record));
  }

  void finish() {
    if (!begun_) return;
    end_.leaf = last_;
    if (name_ && !name_->empty()) end_.name = name_;
    job_.writer().end(std::move(end_));
  }

 private:
  void begin(JsonText line, std::int64_t number) {
    begun_ = true;
    const bool header = is_header(line);
    SessionRecord session{
        .source = "pi",
        .source_id = header ? line["id"].string() : session_in(file_.string()),
        .thread = {.cwd = line["cwd"].string(),
                   .rollout_path = file_.string(),
                   .created_at = base::parse_rfc3339(line["timestamp"].string())}};
    if (session.source_id.empty()) session.source_id = session_in(file_.string());
    if (header) {
      session.header = MessageRecord{.key = message_key("pi", "session"), .line = number};
      session.header->message = {.role = "system",
                                 .content = {},
                                 .item = std::string(line.raw()),
                                 .created_at = session.thread.created_at};
    }
    if (const auto parent = line["parentSession"].string_or_none()) {
      session.origin = Origin{thread_id_of("pi", session_in(*parent)), {}};
    }
    thread_ = thread_id_of(session.source, session.source_id);
    job_.writer().begin(file_, std::move(session));
  }

  /// The key of an entry without an id when the thread was imported from the file that pi made of
  /// this one: the same entries in the same order.
  std::optional<std::string> migrated_key(const NewMessage& said) {
    if (!migrated_) load_migrated();
    if (migrated_->empty()) return std::nullopt;
    const auto& [id, key] = migrated_->front();
    const auto stored = job_.store().messages().find(thread_, id);
    if (!stored || stored->role != said.role || stored->content != said.content) {
      migrated_->clear();  // it went on differently
      return std::nullopt;
    }
    std::string found = key;
    migrated_->pop_front();
    return found;
  }

  void load_migrated() {
    migrated_.emplace();
    if (!job_.store().threads().find(thread_)) return;
    for (auto& entry : Transfer(job_.store()).keys_of(thread_)) {
      if (entry.second.starts_with("pi:") && entry.second != message_key("pi", "session")) {
        migrated_->push_back(std::move(entry));
      }
    }
  }

  Path file_;
  ImportJob& job_;
  bool begun_ = false;
  std::int64_t entries_ = 0;
  std::optional<std::string> last_{};
  std::optional<std::string> name_{};
  ThreadId thread_{};
  /// Of the thread's entries, those not yet met in a file without ids.
  std::optional<std::deque<std::pair<MessageId, std::string>>> migrated_{};
  SessionEnd end_{};
};

class PiFormat : public Format {
 public:
  std::string_view name() const override { return "a pi session"; }

  bool recognises(const Head& head) const override {
    const auto objects = head.objects();
    return !objects.empty() && is_header(JsonText(objects.front()));
  }

  Identity identify(const Head& head) override {
    const auto objects = head.objects();
    const JsonText header(objects.front());
    Identity identity{.session = header["id"].string()};
    if (const auto parent = header["parentSession"].string_or_none()) {
      identity.needs.push_back(session_in(*parent));
    }
    return identity;
  }

  void read(const Path& file, ImportJob& job) override {
    PiReader reader(file, job);
    each_json_line(file, job,
                   [&](JsonText line, std::int64_t number) { reader.add(line, number); });
    reader.finish();
  }
};

}  // namespace

std::unique_ptr<Format> make_pi_format() { return std::make_unique<PiFormat>(); }

}  // namespace threadstore::exchange
