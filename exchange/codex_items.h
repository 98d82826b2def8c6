#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "threadstore/messages.h"

namespace threadstore::exchange {

/// One line of a rollout without its time: `{"type":…,"payload":…}` in two parts.
struct CodexLine {
  std::string type{};     ///< "response_item", "event_msg", "compacted"
  std::string payload{};  ///< JSON text
};

/// What a message is in a rollout. An item that Codex wrote goes back as it was; anything else is
/// said in Codex's words. The events that make user and assistant messages show in its lists
/// stand beside their items.
std::vector<CodexLine> codex_lines(const Message& message);

}  // namespace threadstore::exchange
