#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "cli/terminal/style.h"

namespace threadstore::cli {

class Syntax;

/// The options that every command takes, before or after its name.
struct GlobalOptions {
  std::string home{};
  std::string db{};
  bool json = false;
  std::string color = "auto";
  bool quiet = false;
  int verbosity = 0;
  double wait_seconds = 5;
  std::string workspace{};
  bool version = false;

  ColorMode color_mode() const;
  std::chrono::milliseconds deadline() const;
  /// The database that the command works on: `--db`, `--home`, else the default place.
  std::filesystem::path database() const;
  /// The directory of the store.
  std::filesystem::path store_home() const;
};

void declare_global_options(Syntax& syntax, GlobalOptions& options);

/// True for a global option that takes its value from the next argument ("--home DIR").
bool takes_value(std::string_view option);

}  // namespace threadstore::cli
