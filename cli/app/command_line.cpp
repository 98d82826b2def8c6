#include "cli/app/command_line.h"

#include <algorithm>

#include "cli/app/global_options.h"
#include "cli/app/nearest.h"
#include "threadstore/error.h"

namespace threadstore::cli {
namespace {

std::vector<std::string> names_of(std::span<const Command> commands) {
  std::vector<std::string> names;
  for (const Command& command : commands) names.emplace_back(command.name);
  return names;
}

[[noreturn]] void unknown_command(const std::string& prefix, const std::string& word,
                                  const std::vector<std::string>& names) {
  std::string message = "'" + prefix + word + "' is not a command";
  if (const auto meant = nearest(word, names)) {
    message += "; did you mean '" + prefix + *meant + "'?";
  } else {
    message += "; `threadstore " + prefix + "--help` lists them";
  }
  throw Error(ErrorCode::invalid_argument, message);
}

const Command& find_or_suggest(const std::string& word) {
  if (const Command* found = find_command(word)) return *found;
  std::vector<std::string> names;
  for (const CommandSection& section : command_sections()) {
    for (const std::string& name : names_of(section.commands)) names.push_back(name);
  }
  unknown_command("", word, names);
}

}  // namespace

CommandLine split_command_line(const std::vector<std::string>& words) {
  CommandLine line;
  line.json = wants_json(words);
  bool only_text = false;     // behind `--`
  bool has_argument = false;  // of a verb
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const bool option = !only_text && word.size() > 1 && word.front() == '-';
    if (option) {
      line.arguments.push_back(word);
      line.help = line.help || word == "--help" || word == "-h";
      line.version = line.version || word == "--version";
      only_text = word == "--";
      if (takes_value(word) && i + 1 < words.size()) line.arguments.push_back(words[++i]);
    } else if (line.command == nullptr && word == "help" && !line.help) {
      line.help = true;
      line.arguments.push_back("--help");
    } else if (line.command == nullptr) {
      line.command = &find_or_suggest(word);
      line.name = word;
    } else if (const Command* found = find_verb(*line.command, word); found && !has_argument) {
      line.command = found;
      line.name += " " + word;
    } else if (line.command->declare == nullptr) {
      unknown_command(line.name + " ", word, names_of(line.command->verbs()));
    } else {
      line.arguments.push_back(word);
      has_argument = true;
    }
  }
  return line;
}

bool wants_json(const std::vector<std::string>& words) {
  const auto end = std::find(words.begin(), words.end(), "--");
  return std::find(words.begin(), end, "--json") != end;
}

}  // namespace threadstore::cli
