#include "threadstore/paths.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "threadstore/error.h"
#include "threadstore/messages.h"

namespace threadstore {
namespace {

/// Unicode's White_Space property.
bool is_white_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

/// Without the white space around it. Text that is not UTF-8 is kept byte for byte: its file may
/// really be called so.
std::string_view trimmed(std::string_view value) {
  if (base::find_invalid_utf8(value)) return value;
  std::size_t begin = value.size();
  std::size_t end = value.size();
  for (std::size_t at = 0; at < value.size();) {
    const base::CodePoint point = base::decode_utf8(value, at);
    if (!is_white_space(point.value)) {
      if (begin == value.size()) begin = at;
      end = at + point.length;
    }
    at += point.length;
  }
  return value.substr(begin, end - begin);
}

std::optional<std::string> password_database_home() {
  std::vector<char> buffer(16384);
  struct passwd entry {};
  struct passwd* found = nullptr;
  if (::getpwuid_r(::getuid(), &entry, buffer.data(), buffer.size(), &found) != 0 ||
      found == nullptr || found->pw_dir == nullptr) {
    return std::nullopt;
  }
  return found->pw_dir;
}

/// False only when the file is certainly not there: one that cannot be looked at must not make a
/// program turn to another store in silence.
bool may_exist(const std::filesystem::path& file) {
  std::error_code ignored;
  return std::filesystem::status(file, ignored).type() != std::filesystem::file_type::not_found;
}

[[noreturn]] void refuse(const std::string& variable, std::string_view value,
                         const std::string& why) {
  throw Error(ErrorCode::invalid_argument,
              variable + " is \"" + to_valid_utf8(value) + "\", but " + why);
}

}  // namespace

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return value;
  };
}

Paths::Paths(AppIdentity identity, Environment environment)
    : identity_(std::move(identity)), environment_(std::move(environment)) {}

std::optional<std::filesystem::path> Paths::user_home() const {
  // A relative home would put the store into whatever directory the program was started in; a
  // USERPROFILE that leaked in from Windows is one, too.
  for (const char* variable : {"HOME", "USERPROFILE"}) {
    const std::optional<std::string> value = environment_(variable);
    if (value && std::filesystem::path(*value).is_absolute()) return *value;
  }
  const std::optional<std::string> home = password_database_home();
  if (home && std::filesystem::path(*home).is_absolute()) return *home;
  return std::nullopt;
}

std::optional<std::filesystem::path> Paths::override_from(const std::string& variable) const {
  const std::optional<std::string> raw = environment_(variable);
  if (!raw) return std::nullopt;
  const std::string_view value = trimmed(*raw);
  if (value.empty()) return std::nullopt;
  if (value == "~" || value.substr(0, 2) == "~/") {
    const std::optional<std::filesystem::path> home = user_home();
    if (!home) refuse(variable, value, "no home directory is known; set HOME");
    // Not operator/: what follows may begin with another slash.
    const std::size_t rest = std::min(value.find_first_not_of('/', 1), value.size());
    return rest == value.size() ? *home : *home / value.substr(rest);
  }
  if (value.front() != '/') refuse(variable, value, "it must be an absolute path");
  return std::filesystem::path(value);
}

std::optional<std::filesystem::path> Paths::home_override() const {
  return override_from(identity_.home_variable);
}

std::filesystem::path Paths::app_home() const {
  if (const auto chosen = home_override()) return *chosen;
  if (const auto home = user_home()) return *home / identity_.app_directory;
  throw Error(ErrorCode::invalid_argument, "no home directory is known; set HOME or " +
                                               identity_.home_variable + " to an absolute path");
}

std::filesystem::path Paths::database() const {
  const std::filesystem::path database = app_home() / "state.db";
  if (identity_.legacy_directory.empty() || home_override() || may_exist(database)) return database;
  const std::filesystem::path legacy = *user_home() / identity_.legacy_directory / "state.db";
  return may_exist(legacy) ? legacy : database;
}

std::optional<std::filesystem::path> Paths::config_override() const {
  if (auto chosen = override_from(identity_.config_variable)) return chosen;
  return override_from(identity_.legacy_config_variable);
}

}  // namespace threadstore
