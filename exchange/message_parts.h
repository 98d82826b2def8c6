#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "threadstore/messages.h"

namespace threadstore::exchange {

/// A piece of what a message says, whatever program's words its item uses.
struct Part {
  enum class Kind {
    text,
    reasoning,    ///< what a model thought before it spoke
    tool_call,    ///< `name`, `call_id`, arguments in `text`
    tool_result,  ///< `call_id`, output in `text`; `name` when it is known
    image,        ///< `text`: its address, `data:…` or another
    summary,      ///< stands for an earlier part of the conversation
    other,        ///< `text`: JSON that says something else; `name`: its type, when it has one
  };
  Kind kind = Kind::text;
  std::string text{};
  std::string name{};
  std::string call_id{};
  bool is_error = false;

  friend bool operator==(const Part&, const Part&) = default;
};

/// The parts of a message: of its content, and of its item as Codex, pi, Claude Code, OpenAI's and
/// Anthropic's interfaces and `threadstore chat` write it. What content and item both say comes
/// once. Empty only for a message that says nothing.
std::vector<Part> parts_of(const Message& message);

/// Whether all that it says is for the program that wrote it: a change of settings, a marker.
bool is_note(const Message& message, const std::vector<Part>& parts);

/// The item as a document; discarded when the message has none or it is damaged.
nlohmann::json item_of(const Message& message);

}  // namespace threadstore::exchange
