#pragma once

#include <string>

#include "threadstore/messages.h"

namespace threadstore::exchange {

/// A message as an element `article`: what it says, tool calls and reasoning folded.
std::string html_of_message(const Message& message);

/// What a list shows of it on one line, as HTML.
std::string html_preview(const Message& message);

}  // namespace threadstore::exchange
