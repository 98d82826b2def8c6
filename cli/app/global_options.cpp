#include "cli/app/global_options.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "cli/app/choices.h"
#include "cli/app/syntax.h"
#include "threadstore/paths.h"

namespace threadstore::cli {
namespace {

constexpr std::array<std::string_view, 5> kWithValue{"--home", "--db", "--color", "--wait",
                                                     "--workspace"};
constexpr double kLongestWait = 86'400;

}  // namespace

ColorMode GlobalOptions::color_mode() const {
  if (color == "always") return ColorMode::always;
  if (color == "never") return ColorMode::never;
  return ColorMode::automatic;
}

std::chrono::milliseconds GlobalOptions::deadline() const {
  return std::chrono::milliseconds(static_cast<std::int64_t>(wait_seconds * 1000));
}

std::filesystem::path GlobalOptions::database() const {
  if (!db.empty()) return std::filesystem::absolute(db);
  if (!home.empty()) return std::filesystem::absolute(home) / "state.db";
  return Paths().database();
}

std::filesystem::path GlobalOptions::store_home() const { return database().parent_path(); }

void declare_global_options(Syntax& syntax, GlobalOptions& options) {
  const std::string group = "Global options";
  const ValueCheck not_empty{.fault =
                                 [](const std::string& given) {
                                   return given.empty() ? "must not be empty" : std::string();
                                 },
                             .description = ""};
  const ValueCheck wait{.fault =
                            [](const std::string& given) {
                              double seconds = -1;
                              const auto end = given.data() + given.size();
                              const auto read = std::from_chars(given.data(), end, seconds);
                              const bool good = read.ec == std::errc() && read.ptr == end;
                              return good && seconds >= 0 && seconds <= kLongestWait
                                         ? std::string()
                                         : "'" + given +
                                               "' is not a number of seconds from 0 to 86400";
                            },
                        .description = ""};
  auto* home =
      syntax.add_option("--home", options.home,
                        "The store's directory (default: $CODEWHALE_HOME, else ~/.codewhale)");
  home->type_name("DIR")->group(group)->check(not_empty);
  syntax.add_option("--db", options.db, "The database file itself")
      ->type_name("FILE")
      ->group(group)
      ->check(not_empty)
      ->excludes(home);
  syntax.add_flag("--json", options.json, "Print one JSON document")->group(group);
  syntax.add_option("--color", options.color, "When to colour the output (default: auto)")
      ->check(one_of({"auto", "always", "never"}))
      ->type_name("")
      ->group(group);
  syntax.add_option("--wait", options.wait_seconds, "How long to wait for others (default: 5)")
      ->type_name("SECONDS")
      ->check(wait)
      ->group(group);
  syntax
      .add_option("--workspace", options.workspace,
                  "For runs (default: this directory's real path)")
      ->type_name("W")
      ->group(group);
  syntax.add_flag("-q,--quiet", options.quiet, "No notes and warnings on standard error")
      ->group(group);
  syntax.add_flag("-v,--verbose", options.verbosity, "Log what the library does (-vv: more)")
      ->group(group);
  syntax.set_help_flag("-h,--help", "Print this help")->group(group);
  syntax.add_flag("--version", options.version, "Print the version")->group(group);
}

bool takes_value(std::string_view option) {
  return std::find(kWithValue.begin(), kWithValue.end(), option) != kWithValue.end();
}

}  // namespace threadstore::cli
