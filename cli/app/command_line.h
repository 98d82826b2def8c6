#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/app/command.h"

namespace threadstore::cli {

/// The arguments, split into the command's words and the rest, in order. Only the command that
/// stands there is then declared and parsed: starting costs the same however many there are.
struct CommandLine {
  const Command* command = nullptr;  ///< a verb, or a noun whose verb is missing; null: none
  std::string name;                  ///< "list", "index find"
  std::vector<std::string> arguments;
  bool json = false;  ///< known before parsing, so that a wrong option is told as JSON too
  bool help = false;
  bool version = false;
};

/// Throws `invalid_argument` for a command that does not exist, naming the nearest one.
/// `words` are the arguments behind the program's name.
CommandLine split_command_line(const std::vector<std::string>& words);

/// `--json` among the options in front of a `--`.
bool wants_json(const std::vector<std::string>& words);

}  // namespace threadstore::cli
