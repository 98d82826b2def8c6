#pragma once

#include <string>
#include <string_view>

#include "exchange/json_text.h"

namespace threadstore::exchange {

/// A response item of a Codex rollout, as a message shows it.
struct CodexItem {
  std::string type{};      ///< "message", "function_call", …
  std::string id{};        ///< may be empty
  std::string role{};      ///< of a message as given; else the one that fits
  std::string content{};   ///< texts of a message, output of a tool; empty for calls and reasoning
  bool user_kind = false;  ///< marked as what the user typed
  bool looks_injected = false;  ///< begins as the program's own context does
};

CodexItem read_codex_item(JsonText payload);

/// Whether a text of a user begins as the context that Codex puts in by itself.
bool looks_injected(std::string_view text);

/// The texts of a content list, one below the other; the wrappers that Codex puts around an image
/// are left out.
std::string codex_text(JsonText content);

}  // namespace threadstore::exchange
