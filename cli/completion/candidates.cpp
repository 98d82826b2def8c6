#include "cli/completion/candidates.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <optional>

#include "cli/app/command.h"
#include "cli/app/global_options.h"
#include "cli/app/syntax.h"
#include "cli/output/thread_table.h"
#include "threadstore/state_store.h"

namespace threadstore::cli {
namespace {

constexpr std::size_t kMostThreads = 200;

/// What stands in front of the word that is completed.
struct Before {
  const Command* command = nullptr;
  bool has_argument = false;           ///< that is no option
  bool unknown = false;                ///< a word that is no command: nothing to offer
  std::vector<std::string> arguments;  ///< of the command; global options with their values aside
  std::string asked_value_of;          ///< a global option whose value is being completed
  GlobalOptions options;
};

class Candidates {
 public:
  Candidates(std::ostream& out, std::string prefix) : out_(out), prefix_(std::move(prefix)) {}

  void offer(std::string_view word, std::string_view explanation = {}) {
    if (word.substr(0, prefix_.size()) == prefix_) out_ << word << '\t' << explanation << '\n';
  }
  void files() { out_ << ":files\n"; }
  void directories() { out_ << ":directories\n"; }
  bool wants_option() const { return prefix_.starts_with('-'); }

 private:
  std::ostream& out_;
  std::string prefix_;
};

Before split(const std::vector<std::string>& words) {
  Before before;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (takes_value(word)) {
      before.asked_value_of = i + 2 == words.size() ? word : "";
      if (word == "--home" && i + 2 < words.size()) before.options.home = words[i + 1];
      if (word == "--db" && i + 2 < words.size()) before.options.db = words[i + 1];
      ++i;
    } else if (word.starts_with('-')) {
      before.arguments.push_back(word);
    } else if (before.command == nullptr) {
      before.command = find_command(word);
      before.unknown = before.command == nullptr && word != "help";
    } else if (const Command* verb = find_verb(*before.command, word);
               verb && !before.has_argument) {
      before.command = verb;
    } else if (before.command->declare != nullptr) {
      before.arguments.push_back(word);
      before.has_argument = true;
    } else {
      before.command = nullptr;
      before.unknown = true;
    }
    if (before.unknown) break;
  }
  return before;
}

/// Plain names as they are; others by the id's end, so that no shell has to quote them.
void offer_threads(Candidates& candidates, const Before& before) {
  candidates.offer("@last", "most recently active thread of this directory");
  const auto store = StateStore::open(before.options.database(), {.mode = OpenMode::read_only});
  const auto page = store.threads().list({.archived = ArchivedFilter::all, .limit = kMostThreads});
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  };
  for (const Thread& thread : page.items) {
    const std::string name = thread.name.value_or("");
    if (!name.empty() && name.front() != '-' && std::all_of(name.begin(), name.end(), plain)) {
      candidates.offer(name);
      continue;
    }
    const std::string id = short_id(thread.id);
    if (!std::all_of(id.begin(), id.end(), plain)) continue;
    std::string explanation = shown_name(thread);
    std::replace_if(
        explanation.begin(), explanation.end(),
        [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, ' ');
    candidates.offer(id, explanation);
  }
}

/// Offers values by what the declaration says: `{a,b}` are the words, a name is a kind of value.
void offer_values(Candidates& candidates, const Before& before, const std::string& type) {
  const auto open = type.find('{');
  if (open != std::string::npos) {
    const auto close = type.find('}', open);
    for (const auto& word : CLI::detail::split(type.substr(open + 1, close - open - 1), ',')) {
      candidates.offer(word);
    }
  } else if (type == "THREAD") {
    offer_threads(candidates, before);
  } else if (type == "MESSAGE") {
    candidates.offer("@leaf", "the current leaf");
    candidates.offer("@-1", "the message before it");
  } else if (type == "FILE" || type == "PATH") {
    candidates.files();
  } else if (type == "DIR") {
    candidates.directories();
  }
}

void offer_options(Candidates& candidates, const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      candidates.offer("--" + name, option->get_description());
    }
  }
}

bool has_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

/// The option whose value would come next; null when an argument or an option would.
const CLI::Option* waiting_option(const CLI::App& app, const std::vector<std::string>& arguments) {
  if (arguments.empty() || !arguments.back().starts_with('-')) return nullptr;
  const CLI::Option* option = app.get_option_no_throw(arguments.back());
  return option != nullptr && has_value(*option) ? option : nullptr;
}

/// The positional argument that would come next.
const CLI::Option* next_positional(const CLI::App& app, const std::vector<std::string>& arguments) {
  std::size_t given = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].starts_with('-')) {
      ++given;
    } else if (const CLI::Option* option = app.get_option_no_throw(arguments[i])) {
      if (has_value(*option)) ++i;
    }
  }
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional() || !option->get_lnames().empty()) continue;
    if (given-- == 0) return option;
  }
  return nullptr;
}

void offer_commands(Candidates& candidates) {
  for (const CommandSection& section : command_sections()) {
    for (const Command& command : section.commands) {
      candidates.offer(command.name, command.summary);
    }
  }
}

void offer(Candidates& candidates, const std::vector<std::string>& words) {
  const Before before = split(words);
  if (before.unknown) return;
  Syntax syntax;
  if (before.command != nullptr && before.command->declare != nullptr) {
    before.command->declare(syntax);
  }
  GlobalOptions options;
  declare_global_options(syntax, options);
  const CLI::App& app = syntax.app();
  if (!before.asked_value_of.empty()) {
    offer_values(candidates, before, app.get_option(before.asked_value_of)->get_type_name());
  } else if (const CLI::Option* option = waiting_option(app, before.arguments)) {
    offer_values(candidates, before, option->get_type_name());
  } else if (candidates.wants_option()) {
    offer_options(candidates, app);
  } else if (before.command == nullptr) {
    offer_commands(candidates);
  } else {
    if (before.command->verbs != nullptr && !before.has_argument) {
      for (const Command& verb : before.command->verbs()) candidates.offer(verb.name, verb.summary);
    }
    if (const CLI::Option* positional = next_positional(app, before.arguments)) {
      offer_values(candidates, before, positional->get_type_name());
    }
  }
}

}  // namespace

void print_candidates(std::ostream& out, const std::vector<std::string>& words) {
  Candidates candidates(out, words.empty() ? "" : words.back());
  try {
    offer(candidates, words);
  } catch (const std::exception&) {
    // No store, a damaged one, a word that makes no sense: nothing to offer.
  }
}

}  // namespace threadstore::cli
