#pragma once

#include <functional>
#include <span>
#include <string_view>

namespace threadstore::cli {

class Invocation;
class Syntax;

/// How `Invocation::store()` opens the store for a command.
enum class Access {
  nothing,  ///< the command needs no store, or decides itself (`Invocation::open_for_writing`)
  reading,  ///< opens it read-only; a store that does not exist is an empty one
  writing,  ///< opens it, and makes it when it does not exist
};

/// Does the work of a command once its arguments are known. Results go to `Invocation::out()`;
/// failures are exceptions.
using Action = std::function<void(Invocation&)>;

/// Adds a command's options to `syntax` and returns what to do after they were parsed. The options
/// live in a struct that the action shares: see `declare_new`.
using Declare = Action (*)(Syntax& syntax);

/// A line of the table of commands: a verb, a noun with verbs of its own, or a verb with some,
/// whose first argument may be one of them.
struct Command {
  std::string_view name;
  std::string_view summary;  ///< one line, starts with a capital, no full stop
  std::string_view example;  ///< what stands behind `threadstore` in the help's example
  Access access = Access::nothing;
  Declare declare = nullptr;
  std::span<const Command> (*verbs)() = nullptr;
};

constexpr Command verb(std::string_view name, Access access, Declare declare,
                       std::string_view summary, std::string_view example) {
  return {name, summary, example, access, declare, nullptr};
}

/// The same with verbs of its own.
constexpr Command with_verbs(Command verb, std::span<const Command> (*verbs)()) {
  verb.verbs = verbs;
  return verb;
}

constexpr Command noun(std::string_view name, std::span<const Command> (*verbs)(),
                       std::string_view summary) {
  return {name, summary, {}, Access::nothing, nullptr, verbs};
}

/// Commands under one heading of the help.
struct CommandSection {
  std::string_view title;
  std::span<const Command> commands;
};

/// Every command of the program, in the order of the help.
std::span<const CommandSection> command_sections();

/// The command of that name among `commands`, or null.
const Command* find_command(std::span<const Command> commands, std::string_view name);
/// The verb of that name that a command has, or null.
const Command* find_verb(const Command& command, std::string_view name);
/// The same as the first over all sections.
const Command* find_command(std::string_view name);

}  // namespace threadstore::cli
