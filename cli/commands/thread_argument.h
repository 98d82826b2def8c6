#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace threadstore::cli {

/// Declares the positional argument THREAD; completion offers threads where it stands.
inline CLI::Option* add_thread(CLI::App& app, std::string& thread) {
  return app.add_option("thread", thread, "An id, a name, a part of an id, or @last")
      ->type_name("THREAD")
      ->required();
}

/// Declares the positional argument MESSAGE.
inline CLI::Option* add_message(CLI::App& app, std::string& message, const std::string& help) {
  return app.add_option("message", message, help)->type_name("MESSAGE")->required();
}

}  // namespace threadstore::cli
