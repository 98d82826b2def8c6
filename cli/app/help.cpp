#include "cli/app/help.h"

#include <algorithm>
#include <span>
#include <string_view>

namespace threadstore::cli {
namespace {

constexpr std::string_view kUsage =
    "Usage: threadstore [--home DIR | --db FILE] [--json] [--color auto|always|never] [-q] [-v]\n"
    "                   COMMAND ...\n";

constexpr std::string_view kArguments =
    "THREAD is an id, a name, 4 or more characters that an id begins or ends with, or @last (the "
    "most\n"
    "recently active thread of this directory). MESSAGE is an id, @leaf, or @-N (N before the "
    "leaf).\n"
    "Where a text is asked, - reads standard input.\n";

constexpr std::string_view kExitCodes =
    "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 conflict, 5 busy, 6 damaged,\n"
    "7 newer format, 8 I/O error, 130 interrupted.\n";

std::size_t longest_name(std::span<const Command> commands) {
  std::size_t longest = 0;
  for (const Command& command : commands) longest = std::max(longest, command.name.size());
  return longest;
}

void print_summaries(std::ostream& out, std::span<const Command> commands, std::size_t width) {
  for (const Command& command : commands) {
    out << "  " << command.name << std::string(width - command.name.size() + 2, ' ')
        << command.summary << '\n';
  }
}

}  // namespace

void print_first_steps(std::ostream& out) {
  out << "threadstore keeps conversations: every message durable, branches and forks included.\n"
         "\n"
         "  threadstore chat                       start talking; a new thread is made\n"
         "  threadstore resume                     continue the last thread of this directory\n"
         "  threadstore list                       see the threads of all directories\n"
         "  threadstore show THREAD                read one\n"
         "  threadstore fork THREAD                go on from its history in a new thread\n"
         "\n"
         "`threadstore --help` lists all commands, `threadstore COMMAND --help` explains one.\n";
}

void print_all_commands(std::ostream& out) {
  std::size_t width = 0;
  for (const CommandSection& section : command_sections()) {
    width = std::max(width, longest_name(section.commands));
  }
  out << kUsage;
  for (const CommandSection& section : command_sections()) {
    out << '\n' << section.title << ":\n";
    print_summaries(out, section.commands, width);
  }
  out << '\n'
      << kArguments << '\n'
      << kExitCodes
      << "\n`threadstore COMMAND --help` explains a command and the global options.\n";
}

void print_verbs(std::ostream& out, const Command& noun) {
  const auto verbs = noun.verbs();
  out << noun.summary << "\n\nUsage: threadstore " << noun.name << " VERB ...\n\n";
  print_summaries(out, verbs, longest_name(verbs));
  out << "\n`threadstore " << noun.name << " VERB --help` explains one.\n";
}

}  // namespace threadstore::cli
