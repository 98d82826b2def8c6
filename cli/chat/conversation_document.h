#pragma once

#include <string>

#include "cli/chat/responder.h"

namespace threadstore::cli {

/// What a command gets on its standard input:
/// {"thread":{…},"messages":[{"role","content","item"}…]}, oldest message first. An item stands
/// there as it was stored; a damaged one as a string.
std::string conversation_document(const Conversation& conversation);

}  // namespace threadstore::cli
