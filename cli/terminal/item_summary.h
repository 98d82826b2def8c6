#pragma once

#include <string>

namespace threadstore::cli {

/// One unescaped line that says what a message's item is: "function_call shell
/// {"command":["ls"]}", "exit status 3", "3 items", or the JSON text itself. `damaged` items are
/// not parsed. At most about 300 bytes. Empty for a whole message as other programs keep it, when
/// it holds nothing but the text: the message's content shows that.
std::string item_summary(const std::string& item, bool damaged);

}  // namespace threadstore::cli
