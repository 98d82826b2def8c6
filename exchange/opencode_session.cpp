#include "exchange/opencode_session.h"

#include <functional>

#include "exchange/import_job.h"

namespace threadstore::exchange {
namespace {

/// opencode's times are milliseconds.
std::optional<UnixSeconds> seconds(JsonText millis) {
  const auto value = millis.integer();
  return value ? std::optional(*value / 1000) : std::nullopt;
}

std::string text_of(JsonText parts) {
  std::string text;
  parts.each([&](JsonText part) {
    if (part["type"].raw() != "\"text\"") return;
    const std::string piece = part["text"].string();
    if (piece.empty()) return;
    if (!text.empty()) text += '\n';
    text += piece;
  });
  return text;
}

/// Whether more may come: the answer had not ended when this was written.
bool is_unfinished(JsonText info) {
  return info["role"].string() == "assistant" && !info["time"]["completed"].present() &&
         !info["error"].present();
}

/// Tells one state of an unfinished answer from the next, the same in database and export.
std::size_t progress_of(JsonText parts) {
  std::string state;
  parts.each([&](JsonText part) {
    state += part["id"].string() + part["text"].string() + part["state"]["status"].string() + "\n";
  });
  return std::hash<std::string>{}(state);
}

}  // namespace

OpencodeSession::OpencodeSession(const std::filesystem::path& file, JsonText info, ImportJob& job)
    : file_(file), job_(job) {
  const std::string id = info["id"].string();
  const auto created_at = seconds(info["time"]["created"]);
  SessionRecord session{.source = "opencode",
                        .source_id = id.empty() ? file.stem().string() : id,
                        .thread = {.cwd = info["directory"].string(),
                                   .model_provider = info["model"]["providerID"].string(),
                                   .cli_version = info["version"].string(),
                                   .rollout_path = file.string(),
                                   .created_at = created_at}};
  session.header = MessageRecord{.key = message_key("opencode", "session")};
  session.header->message = {
      .role = "system", .content = {}, .item = std::string(info.raw()), .created_at = created_at};
  job_.writer().begin(file_, std::move(session));
  reverted_from_ = info["revert"]["messageID"].string();
  end_.name = info["title"].string_or_none();
  end_.updated_at = seconds(info["time"]["updated"]);
  end_.archived_at = seconds(info["time"]["archived"]);
  end_.archived = end_.archived_at.has_value();
}

void OpencodeSession::add(JsonText message) {
  const JsonText info = message["info"];
  const std::string id = info["id"].string();
  if (id.empty()) {
    job_.skip(file_, 0, "a message without an id was left out");
    return;
  }
  MessageRecord record{.key = message_key("opencode", id)};
  if (is_unfinished(info)) {
    // Its end, should it come, is another message beside it: nothing stored is changed.
    record.key = message_key("opencode", id + "~" + std::to_string(progress_of(message["parts"])));
  }
  record.parent = last_;
  record.message.role = info["role"].string();
  if (record.message.role.empty()) record.message.role = "system";
  record.message.content = text_of(message["parts"]);
  record.message.item = std::string(message.raw());
  record.message.created_at = seconds(info["time"]["created"]);
  if (!reverted_from_.empty() && id == reverted_from_) hidden_ = true;
  last_ = record.key;
  if (!hidden_) tip_ = last_;
  job_.writer().add(std::move(record));
}

void OpencodeSession::finish() {
  end_.leaf = tip_ ? tip_ : std::optional(message_key("opencode", "session"));
  job_.writer().end(std::move(end_));
}

}  // namespace threadstore::exchange
