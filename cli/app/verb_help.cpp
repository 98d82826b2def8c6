#include "cli/app/verb_help.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <vector>

#include "cli/terminal/text.h"

namespace threadstore::cli {
namespace {

constexpr std::size_t kWidth = 100;
constexpr std::size_t kLabel = 28;

bool is_positional(const CLI::Option& option) { return option.get_positional(); }

/// Choices stand in a declaration's type as ":{a,b}".
std::string value_of(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return {};
  std::string type = option.get_type_name();
  const auto open = type.find('{');
  if (open == std::string::npos) return type;
  type = type.substr(open + 1, type.find('}', open) - open - 1);
  std::replace(type.begin(), type.end(), ',', '|');
  return type;
}

/// A long list of choices stands in the explanation: the label says WORD.
bool has_many_choices(const CLI::Option& option) {
  const std::string value = value_of(option);
  return !is_positional(option) && value.size() > kLabel / 2 &&
         value.find('|') != std::string::npos;
}

std::string label_of(const CLI::Option& option) {
  if (is_positional(option)) return value_of(option);
  std::string label;
  for (const std::string& name : option.get_snames()) label += "-" + name + ", ";
  for (const std::string& name : option.get_lnames()) label += "--" + name + ' ';
  label += has_many_choices(option) ? "WORD" : value_of(option);
  return label.ends_with(' ') ? label.substr(0, label.size() - 1) : label;
}

std::string explanation_of(const CLI::Option& option) {
  const std::string choices = has_many_choices(option) ? ": " + value_of(option) : "";
  return option.get_description() + choices;
}

void print_entry(std::ostream& out, const std::string& label, const std::string& explanation) {
  std::string start = pad_to_width("  " + label, kLabel);
  if (display_width(label) + 4 > kLabel) {
    out << "  " << label << '\n';
    start = std::string(kLabel, ' ');
  }
  for (const std::string& line : wrap(explanation, kWidth - kLabel)) {
    out << start << line << '\n';
    start = std::string(kLabel, ' ');
  }
}

std::vector<std::string> groups_of(const CLI::App& app) {
  std::vector<std::string> groups;
  for (const CLI::Option* option : app.get_options()) {
    const std::string& group = option->get_group();
    if (is_positional(*option) || group.empty()) continue;
    if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
  }
  return groups;
}

}  // namespace

void print_verb_help(std::ostream& out, const Command& command, const std::string& name,
                     const CLI::App& app) {
  out << command.summary << "\n\nUsage: threadstore " << name;
  bool has_positional = false;
  for (const CLI::Option* option : app.get_options()) {
    if (!is_positional(*option)) continue;
    has_positional = true;
    const std::string value = value_of(*option);
    out << ' ' << (option->get_required() ? value : "[" + value + "]");
  }
  out << " [OPTIONS]\n";
  if (has_positional) out << '\n';
  for (const CLI::Option* option : app.get_options()) {
    if (is_positional(*option)) print_entry(out, label_of(*option), explanation_of(*option));
  }
  if (command.verbs != nullptr) {
    out << '\n';
    for (const Command& verb : command.verbs()) {
      print_entry(out, name + " " + std::string(verb.name), std::string(verb.summary));
    }
  }
  for (const std::string& group : groups_of(app)) {
    out << '\n' << group << ":\n";
    for (const CLI::Option* option : app.get_options()) {
      if (is_positional(*option) || option->get_group() != group) continue;
      print_entry(out, label_of(*option), explanation_of(*option));
    }
  }
  out << "\nExample:\n  threadstore " << command.example << '\n';
}

}  // namespace threadstore::cli
