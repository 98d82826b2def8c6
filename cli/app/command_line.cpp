#include "cli/app/command_line.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "cli/app/global_options.h"
#include "threadstore/error.h"

namespace threadstore::cli {
namespace {

/// Levenshtein distance in bytes.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

std::vector<std::string_view> names_of(std::span<const Command> commands) {
  std::vector<std::string_view> names;
  for (const Command& command : commands) names.push_back(command.name);
  return names;
}

/// The name that was probably meant: it begins like `word`, or a letter or two differ.
std::optional<std::string_view> nearest(std::string_view word,
                                        const std::vector<std::string_view>& names) {
  std::optional<std::string_view> best;
  std::size_t best_distance = word.size() < 4 ? 2 : 3;
  for (const std::string_view name : names) {
    const bool begins = word.size() >= 2 && name.substr(0, word.size()) == word;
    const std::size_t steps = begins ? 0 : distance(word, name);
    if (steps < best_distance) {
      best = name;
      best_distance = steps;
    }
  }
  return best;
}

[[noreturn]] void unknown_command(const std::string& prefix, const std::string& word,
                                  const std::vector<std::string_view>& names) {
  std::string message = "'" + prefix + word + "' is not a command";
  if (const auto meant = nearest(word, names)) {
    message += "; did you mean '" + prefix + std::string(*meant) + "'?";
  } else {
    message += "; `threadstore " + prefix + "--help` lists them";
  }
  throw Error(ErrorCode::invalid_argument, message);
}

const Command& find_or_suggest(const std::string& word) {
  if (const Command* found = find_command(word)) return *found;
  std::vector<std::string_view> names;
  for (const CommandSection& section : command_sections()) {
    for (const std::string_view name : names_of(section.commands)) names.push_back(name);
  }
  unknown_command("", word, names);
}

}  // namespace

CommandLine split_command_line(const std::vector<std::string>& words) {
  CommandLine line;
  line.json = wants_json(words);
  bool only_text = false;  // behind `--`
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
    } else if (line.command->verbs != nullptr) {
      const auto verbs = line.command->verbs();
      const Command* found = find_command(verbs, word);
      if (found == nullptr) unknown_command(line.name + " ", word, names_of(verbs));
      line.command = found;
      line.name += " " + word;
    } else {
      line.arguments.push_back(word);
    }
  }
  return line;
}

bool wants_json(const std::vector<std::string>& words) {
  const auto end = std::find(words.begin(), words.end(), "--");
  return std::find(words.begin(), end, "--json") != end;
}

}  // namespace threadstore::cli
