#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>

#include "exchange/codex_content.h"
#include "exchange/record.h"

namespace threadstore::exchange {

class ImportJob;

/// The lines of one rollout, in their order, as messages.
///
/// Codex says most things twice: as a response item (what the model saw) and as an event (what the
/// user saw). The response item is taken. The event tells a user's input from context that Codex
/// put in, and stands in when the item's line is torn. For an answer it comes before the item, for
/// an input after it; so one message is held back until that is clear.
class CodexReader {
 public:
  CodexReader(const std::filesystem::path& file, std::string segment, ImportJob& job);

  /// A line that is not the session's own first one; key and time are those of the line.
  void add(JsonText line, std::int64_t number);
  /// The key of the line, by ordinal or else by position: the same at every import.
  std::string next_key(JsonText line, std::int64_t number);
  /// After the last line; `end` gets what was learned on the way.
  void finish(SessionEnd& end);

 private:
  struct Event {
    std::string id;
    MessageRecord record;
  };
  struct Held {
    MessageRecord record;
    CodexItem item;
  };

  void add_item(JsonText line, JsonText payload, MessageRecord record);
  void add_event(JsonText payload, MessageRecord record);
  void add_input_event(std::string text, MessageRecord record);
  void add_answer_event(const std::string& id, std::string text, MessageRecord record);
  void add_note(JsonText payload, const std::string& type, MessageRecord record);
  void add_compaction(JsonText line, JsonText payload, MessageRecord record);
  void roll_back(std::int64_t turns, std::int64_t number);

  bool take_answer_event(const CodexItem& item, MessageRecord& record);
  void release_held(bool compaction_follows = false);
  void release_answers();
  void input(MessageRecord record);
  void put(MessageRecord record);

  std::filesystem::path file_;
  std::string segment_;
  ImportJob& job_;
  std::int64_t position_ = 0;  ///< lines so far, those that tell of a session not counted
  std::int64_t last_ordinal_ = -1;
  std::optional<std::string> tip_{};  ///< the key that the next message answers
  bool has_events_ = false;
  std::optional<Held> held_{};
  int awaited_input_events_ = 0;
  std::deque<Event> answers_{};  ///< answers whose item has not come yet
  /// What each of the last turns began under, to go back to.
  std::deque<std::optional<std::string>> turns_{};
  bool aborted_noted_ = false;
  ThreadPatch late_{};
};

}  // namespace threadstore::exchange
