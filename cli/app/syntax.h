#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
class Option;
}  // namespace CLI

namespace threadstore::cli {

/// Looks at a given value.
struct ValueCheck {
  std::function<std::string(const std::string&)> fault;  ///< says what is wrong; empty: nothing
  std::string description;  ///< "{a,b}": choices, for the help and the completion
};

/// One option or positional argument that a verb declares; what its methods do not say is optional.
/// Lives as long as its Syntax.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  std::string name() const;  ///< "--output"
  bool is_given() const;

  Option* type_name(const std::string& name);  ///< of the value in the help: "FILE"
  Option* description(const std::string& text);
  Option* group(const std::string& title);  ///< heading in the help
  Option* required();
  Option* delimiter(char between);  ///< one argument may hold several values
  Option* check(ValueCheck check);
  Option* excludes(Option* other);
  Option* needs(Option* other);

 private:
  CLI::Option* option_;
};

/// The options and arguments of one verb. Hides CLI11, whose header each source that includes it
/// compiles, and whose validators it initialises, used or not.
class Syntax {
 public:
  Syntax();
  ~Syntax();
  Syntax(const Syntax&) = delete;
  Syntax& operator=(const Syntax&) = delete;

  /// A value for `target`, which outlives the parsing. `names` is "--long", "-s,--long", or the
  /// word of a positional argument. For text, numbers, optional ones and lists of text
  /// (syntax.cpp).
  template <class Value>
  Option* add_option(const std::string& names, Value& target, const std::string& help);
  /// True when given; a number counts how often.
  template <class Value>
  Option* add_flag(const std::string& names, Value& target, const std::string& help);
  Option* set_help_flag(const std::string& names, const std::string& help);

  /// These must be given, unless `waived` says otherwise once all is parsed.
  void require(std::vector<Option*> options, std::function<bool()> waived = {});
  /// One of these must be given, and no other.
  void require_one(std::vector<Option*> options);

  /// What parses; for this folder and the completion only.
  CLI::App& app() noexcept { return *app_; }

 private:
  Option* keep(CLI::Option* option);

  std::unique_ptr<CLI::App> app_;
  std::deque<Option> options_;
  std::vector<std::function<void()>> rules_;  ///< what must hold once all is parsed
};

}  // namespace threadstore::cli
