#include "cli/app/syntax.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <optional>

namespace threadstore::cli {

std::string Option::name() const { return option_->get_name(); }

bool Option::is_given() const { return option_->count() > 0; }

Option* Option::type_name(const std::string& name) {
  option_->type_name(name);
  return this;
}

Option* Option::description(const std::string& text) {
  option_->description(text);
  return this;
}

Option* Option::group(const std::string& title) {
  option_->group(title);
  return this;
}

Option* Option::required() {
  option_->required();
  return this;
}

Option* Option::delimiter(char between) {
  option_->delimiter(between);
  return this;
}

Option* Option::check(ValueCheck check) {
  option_->check(CLI::Validator(std::move(check.fault), std::move(check.description)));
  return this;
}

Option* Option::excludes(Option* other) {
  option_->excludes(other->option_);
  return this;
}

Option* Option::needs(Option* other) {
  option_->needs(other->option_);
  return this;
}

Syntax::Syntax() : app_(std::make_unique<CLI::App>()) {
  app_->set_help_flag();  // its place is among the global options
  app_->final_callback([this] {
    for (const auto& rule : rules_) rule();
  });
}

Syntax::~Syntax() = default;

template <class Value>
Option* Syntax::add_option(const std::string& names, Value& target, const std::string& help) {
  return keep(app_->add_option(names, target, help));
}

template <class Value>
Option* Syntax::add_flag(const std::string& names, Value& target, const std::string& help) {
  return keep(app_->add_flag(names, target, help));
}

template Option* Syntax::add_option(const std::string&, std::string&, const std::string&);
template Option* Syntax::add_option(const std::string&, std::optional<std::string>&,
                                    const std::string&);
template Option* Syntax::add_option(const std::string&, std::vector<std::string>&,
                                    const std::string&);
template Option* Syntax::add_option(const std::string&, int&, const std::string&);
template Option* Syntax::add_option(const std::string&, std::optional<int>&, const std::string&);
template Option* Syntax::add_option(const std::string&, std::int64_t&, const std::string&);
template Option* Syntax::add_option(const std::string&, std::optional<std::int64_t>&,
                                    const std::string&);
template Option* Syntax::add_option(const std::string&, std::size_t&, const std::string&);
template Option* Syntax::add_option(const std::string&, std::optional<std::size_t>&,
                                    const std::string&);
template Option* Syntax::add_option(const std::string&, double&, const std::string&);
template Option* Syntax::add_option(const std::string&, std::optional<double>&, const std::string&);
template Option* Syntax::add_option(const std::string&, std::optional<bool>&, const std::string&);
template Option* Syntax::add_flag(const std::string&, bool&, const std::string&);
template Option* Syntax::add_flag(const std::string&, int&, const std::string&);

Option* Syntax::set_help_flag(const std::string& names, const std::string& help) {
  return keep(app_->set_help_flag(names, help));
}

void Syntax::require(std::vector<Option*> options, std::function<bool()> waived) {
  rules_.push_back([options = std::move(options), waived = std::move(waived)] {
    if (waived && waived()) return;
    for (const Option* option : options) {
      if (!option->is_given()) throw CLI::RequiredError(option->name());
    }
  });
}

void Syntax::require_one(std::vector<Option*> options) {
  rules_.push_back([options = std::move(options)] {
    const auto given = std::count_if(options.begin(), options.end(),
                                     [](const Option* option) { return option->is_given(); });
    if (given == 1) return;
    std::string names;
    for (const Option* option : options) names += (names.empty() ? "" : ", ") + option->name();
    throw CLI::ParseError("give exactly one of " + names, CLI::ExitCodes::RequiredError);
  });
}

Option* Syntax::keep(CLI::Option* option) { return &options_.emplace_back(option); }

}  // namespace threadstore::cli
