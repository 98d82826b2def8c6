#pragma once

#include <string>
#include <string_view>

namespace threadstore::cli {

/// One unescaped line that says what a message's item is: "function_call shell
/// {"command":["ls"]}", "exit status 3", "3 items", or the JSON text itself. `damaged` items are
/// not parsed. At most about 300 bytes. Empty for a whole message as other programs keep it, and
/// for a tool's output, when it holds nothing but the text: the message's `content` shows that.
std::string item_summary(const std::string& item, bool damaged, std::string_view content = {});

}  // namespace threadstore::cli
