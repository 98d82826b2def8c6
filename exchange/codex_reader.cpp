#include "exchange/codex_reader.h"

#include <algorithm>

#include "base/rfc3339.h"
#include "exchange/codex_base.h"
#include "exchange/import_job.h"

namespace threadstore::exchange {
namespace {

constexpr std::size_t kMostTurns = 10'000;
constexpr std::size_t kMostAnswers = 1'000;

}  // namespace

CodexReader::CodexReader(const std::filesystem::path& file, std::string segment, ImportJob& job)
    : file_(file), segment_(std::move(segment)), job_(job) {}

std::string CodexReader::next_key(JsonText line, std::int64_t number) {
  if (line["type"].raw() != "\"session_meta\"") ++position_;
  const auto ordinal = line["ordinal"].integer();
  if (!ordinal) return message_key("codex", std::to_string(position_));
  if (*ordinal <= last_ordinal_) return message_key("codex", "l" + std::to_string(number));
  last_ordinal_ = *ordinal;
  return codex_ordinal_key(segment_, *ordinal);
}

void CodexReader::add(JsonText line, std::int64_t number) {
  const std::string type = line["type"].string();
  const JsonText payload = line["payload"];
  MessageRecord record{.key = next_key(line, number), .line = number};
  record.message.created_at = base::parse_rfc3339(line["timestamp"].string());
  if (type == "response_item") {
    add_item(line, payload, std::move(record));
  } else if (type == "event_msg") {
    has_events_ = true;
    add_event(payload, std::move(record));
  } else if (type == "compacted") {
    add_compaction(line, payload, std::move(record));
  } else if (type == "turn_context" && !late_.approval_mode.changes()) {
    if (const auto mode = payload["approval_policy"].string_or_none()) late_.approval_mode = *mode;
    const JsonText sandbox = payload["sandbox_policy"];
    if (sandbox.is_object()) late_.sandbox_policy = std::string(sandbox.raw());
  }
}

void CodexReader::add_item(JsonText, JsonText payload, MessageRecord record) {
  if (!payload.is_object()) {
    job_.skip(file_, record.line, "the line has no payload");
    return;
  }
  CodexItem item = read_codex_item(payload);
  record.message.role = item.role;
  record.message.content = item.content;
  record.message.item = std::string(payload.raw());
  if (item.type == "message" && item.role == "assistant" && take_answer_event(item, record)) {
    release_held();
    put(std::move(record));
    return;
  }
  release_held();
  const bool may_be_told_later =
      item.type == "message" && (item.role == "user" || item.role == "assistant");
  if (may_be_told_later) {
    held_ = Held{std::move(record), std::move(item)};
  } else {
    put(std::move(record));
  }
}

/// The event that announced the answer gives it its key, so that an import between the two lines
/// and one after both agree.
bool CodexReader::take_answer_event(const CodexItem& item, MessageRecord& record) {
  const auto found = std::find_if(answers_.begin(), answers_.end(), [&](const Event& event) {
    if (!event.id.empty() && !item.id.empty()) return event.id == item.id;
    return event.record.message.content == item.content;
  });
  if (found == answers_.end()) return false;
  record.key = found->record.key;
  answers_.erase(found);
  return true;
}

void CodexReader::add_event(JsonText payload, MessageRecord record) {
  const std::string type = payload["type"].string();
  record.message.item = std::string(payload.raw());
  if (type == "user_message") {
    add_input_event(payload["message"].string(), std::move(record));
  } else if (type == "agent_message") {
    add_answer_event("", payload["message"].string(), std::move(record));
  } else if (type == "item_completed") {
    const JsonText item = payload["item"];
    const std::string kind = item["type"].string();
    if (kind == "UserMessage") {
      add_input_event(codex_text(item["content"]), std::move(record));
    } else if (kind == "AgentMessage") {
      add_answer_event(item["id"].string(), codex_text(item["content"]), std::move(record));
    }
  } else if (type == "thread_rolled_back") {
    release_held();
    release_answers();
    roll_back(payload["num_turns"].integer().value_or(0), record.line);
  } else {
    add_note(payload, type, std::move(record));
  }
}

void CodexReader::add_input_event(std::string text, MessageRecord record) {
  release_answers();
  if (held_ && held_->record.message.role == "user") {
    MessageRecord told = std::move(held_->record);
    held_.reset();
    input(std::move(told));
    return;
  }
  release_held();
  if (awaited_input_events_ > 0) {
    --awaited_input_events_;
    return;
  }
  record.message.role = "user";
  record.message.content = std::move(text);
  input(std::move(record));
}

void CodexReader::add_answer_event(const std::string& id, std::string text, MessageRecord record) {
  if (held_ && held_->record.message.role == "assistant" && held_->record.message.content == text) {
    held_->item.user_kind = true;  // told: no summary
    release_held();
    return;
  }
  release_held();
  record.message.role = "assistant";
  record.message.content = std::move(text);
  answers_.push_back({id, std::move(record)});
  if (answers_.size() > kMostAnswers) release_answers();
}

void CodexReader::add_note(JsonText payload, const std::string& type, MessageRecord record) {
  const bool ends_turn = type == "task_complete" || type == "turn_complete" ||
                         type == "turn_aborted" || type == "task_started" || type == "turn_started";
  if (ends_turn) {
    // A summary is followed by what it sums up for, in the same turn.
    release_held();
    release_answers();
  }
  record.message.role = "system";
  if (type == "turn_aborted") {
    if (aborted_noted_) return;
    record.message.content = "turn aborted: " + payload["reason"].string();
  } else if (type == "task_complete" || type == "turn_complete") {
    const JsonText error = payload["error"];
    if (!error.is_object()) return;
    record.message.content = "turn failed: " + error["message"].string();
  } else if (type == "entered_review_mode" || type == "exited_review_mode") {
    record.message.content = type == "entered_review_mode" ? "review began" : "review ended";
  } else {
    return;
  }
  put(std::move(record));
}

void CodexReader::add_compaction(JsonText line, JsonText payload, MessageRecord record) {
  release_held(true);
  record.message.role = "system";
  record.message.content = payload["message"].string();
  record.message.item = std::string(line.raw());
  put(std::move(record));
}

void CodexReader::roll_back(std::int64_t turns, std::int64_t number) {
  if (turns <= 0) return;
  if (static_cast<std::size_t>(turns) > turns_.size()) {
    job_.skip(file_, number,
              "it takes back " + std::to_string(turns) + " turns, but only " +
                  std::to_string(turns_.size()) + " are known; what follows goes on from there");
    turns = static_cast<std::int64_t>(turns_.size());
  }
  if (turns == 0) return;
  tip_ = turns_[turns_.size() - static_cast<std::size_t>(turns)];
  turns_.resize(turns_.size() - static_cast<std::size_t>(turns));
}

void CodexReader::release_held(bool compaction_follows) {
  if (!held_) return;
  Held held = std::move(*held_);
  held_.reset();
  if (held.record.message.role == "assistant") {
    // The summary that the model wrote for a compaction is no answer to anybody.
    if (compaction_follows && has_events_ && !held.item.user_kind) {
      held.record.message.role = "system";
    }
    put(std::move(held.record));
    return;
  }
  const bool typed = held.item.user_kind || (!has_events_ && !held.item.looks_injected);
  if (typed) {
    if (has_events_) ++awaited_input_events_;
    input(std::move(held.record));
    return;
  }
  aborted_noted_ = held.record.message.content.starts_with("<turn_aborted>");
  held.record.message.role = "system";
  put(std::move(held.record));
}

void CodexReader::release_answers() {
  for (Event& event : answers_) put(std::move(event.record));
  answers_.clear();
}

void CodexReader::input(MessageRecord record) {
  turns_.push_back(tip_);
  if (turns_.size() > kMostTurns) turns_.pop_front();
  aborted_noted_ = false;
  put(std::move(record));
}

void CodexReader::put(MessageRecord record) {
  record.parent = tip_;
  tip_ = record.key;
  job_.writer().add(std::move(record));
}

void CodexReader::finish(SessionEnd& end) {
  // Without the event that may be on its way: typed unless it looks otherwise.
  if (held_ && held_->record.message.role == "user" && !held_->item.looks_injected) {
    held_->item.user_kind = true;
  }
  release_held();
  release_answers();
  end.leaf = tip_;
  end.late = late_;
}

}  // namespace threadstore::exchange
