#pragma once

#include <string>

namespace threadstore::cli {

class Chat;

/// Runs an input that begins with a slash. An unknown command is said, with the nearest one.
void run_slash_command(Chat& chat, const std::string& line);

}  // namespace threadstore::cli
