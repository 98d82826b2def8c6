#include "cli/app/usage_error.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <vector>

#include "cli/app/nearest.h"

namespace threadstore::cli {
namespace {

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string unexpected(const CLI::App& app) {
  const auto extras = app.remaining();
  const auto found = std::find_if(extras.begin(), extras.end(),
                                  [](const std::string& word) { return word != "--"; });
  const std::string word = found == extras.end() ? "--" : *found;
  const auto meant = nearest(word, option_names(app));
  // An option behind `--` is an argument like any other.
  if (!word.starts_with('-') || meant == word) return "unexpected argument '" + word + "'";
  return "unknown option " + word + (meant ? " (did you mean " + *meant + "?)" : "");
}

std::string missing(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_required() || option->count() > 0) continue;
    if (option->get_positional()) return option->get_type_name() + " is missing";
  }
  return {};
}

std::string in_our_words(const CLI::App& app, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) return unexpected(app);
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    if (std::string what = missing(app); !what.empty()) return what;
  }
  return error.what();
}

}  // namespace

Error usage_error(const CLI::App& app, const CLI::ParseError& error, const std::string& name) {
  return {ErrorCode::invalid_argument,
          in_our_words(app, error) + "; `threadstore " + name + " --help` explains the command"};
}

}  // namespace threadstore::cli
