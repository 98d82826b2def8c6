#include <algorithm>
#include <array>

#include "cli/app/command.h"
#include "cli/commands/commands.h"

namespace threadstore::cli {
namespace {

// A new command: its function in a file under cli/commands, declared in commands.h, and a line
// here.
constexpr std::array kThreads{
    verb("new", Access::writing, declare_new, "Make a thread and print its id",
         "new --name 'parser rewrite'"),
    verb("list", Access::reading, declare_list, "List threads, most recently active first",
         "list --here --since 3d"),
};

constexpr std::array kStore{
    verb("paths", Access::nothing, declare_paths, "Show where the store's files live",
         "paths --json"),
};

constexpr std::array kSections{
    CommandSection{"Threads", kThreads},
    CommandSection{"Store", kStore},
};

}  // namespace

std::span<const CommandSection> command_sections() { return kSections; }

const Command* find_command(std::span<const Command> commands, std::string_view name) {
  const auto found = std::find_if(commands.begin(), commands.end(),
                                  [&](const Command& command) { return command.name == name; });
  return found == commands.end() ? nullptr : &*found;
}

const Command* find_command(std::string_view name) {
  for (const CommandSection& section : command_sections()) {
    if (const Command* found = find_command(section.commands, name)) return found;
  }
  return nullptr;
}

}  // namespace threadstore::cli
