#pragma once

#include <string>

namespace threadstore::cli {

/// Declares the positional argument THREAD; completion offers threads where it stands.
inline Option* add_thread(Syntax& syntax, std::string& thread) {
  return syntax.add_option("thread", thread, "An id, a name, a part of an id, or @last")
      ->type_name("THREAD")
      ->required();
}

/// Declares the positional argument MESSAGE.
inline Option* add_message(Syntax& syntax, std::string& message, const std::string& help) {
  return syntax.add_option("message", message, help)->type_name("MESSAGE")->required();
}

}  // namespace threadstore::cli
