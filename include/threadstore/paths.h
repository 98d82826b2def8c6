#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace threadstore {

/// The names under which a program keeps its store. The default is that of the format's first
/// program; an embedder gives its own.
struct AppIdentity {
  std::string app_directory = ".codewhale";
  std::string legacy_directory = ".deepseek";
  std::string home_variable = "CODEWHALE_HOME";
  std::string config_variable = "CODEWHALE_CONFIG_PATH";
  std::string legacy_config_variable = "DEEPSEEK_CONFIG_PATH";
};

/// Reads one environment variable; nothing when it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// The process's own environment.
Environment process_environment();

/// Decides where files live. Creates nothing, asks only whether a database exists. An override is
/// trimmed of white space when it is UTF-8 and kept byte for byte otherwise; nothing but white
/// space counts as unset; a leading `~` or `~/` stands for the user's home. Throws
/// `invalid_argument` naming variable and value when an override is relative, or begins with `~`
/// and no home is known. Thread-safe as far as the environment is.
class Paths {
 public:
  explicit Paths(AppIdentity identity = {}, Environment environment = process_environment());

  /// `HOME`, else `USERPROFILE`, else the password database: the first that is an absolute path.
  std::optional<std::filesystem::path> user_home() const;
  /// The override's value, expanded; nothing when unset, empty or white space.
  std::optional<std::filesystem::path> home_override() const;
  /// The override, else `<user home>/<app directory>`. Throws `invalid_argument` when neither is
  /// known.
  std::filesystem::path app_home() const;
  /// `<override>/state.db`, without any fallback; else the app directory's, unless only the legacy
  /// directory has one.
  std::filesystem::path database() const;
  /// Where the configuration file is, when a variable says so; the legacy variable comes second.
  std::optional<std::filesystem::path> config_override() const;

 private:
  std::optional<std::filesystem::path> override_from(const std::string& variable) const;

  AppIdentity identity_;
  Environment environment_;
};

}  // namespace threadstore
