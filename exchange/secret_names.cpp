#include <algorithm>
#include <array>
#include <string>

#include "exchange/secret_shapes.h"

namespace threadstore::exchange {
namespace {

constexpr std::size_t kLongestName = 80;
constexpr std::size_t kLongestValue = 4096;
constexpr std::size_t kLongestIndent = 64;

/// How such names end, without case and separators. The first ones are chosen by people.
constexpr std::array<std::string_view, 6> kPasswords{"password", "passwd",   "passphrase",
                                                     "pwd",      "passwort", "mdp"};
constexpr std::array<std::string_view, 12> kKeys{
    "secret",  "token",    "apikey",     "accesskey",   "secretkey",  "privatekey",
    "authkey", "apitoken", "credential", "credentials", "accountkey", "encryptionkey"};
/// Names that end like a secret and count or describe something.
constexpr std::array<std::string_view, 12> kNoSecrets{
    "maxtoken",  "totaltoken", "inputtoken", "outputtoken", "nexttoken",    "pagetoken",
    "stoptoken", "eostoken",   "padtoken",   "bostoken",    "specialtoken", "unktoken"};
constexpr std::array<std::string_view, 22> kPlaceholders{
    "null",     "none",  "nil",      "true",        "false",  "undefined", "string", "str",
    "optional", "bool",  "required", "placeholder", "hidden", "redacted",  "secret", "password",
    "token",    "empty", "changeme", "example",     "xxx",    "yourtoken"};

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

/// In lower case, without separators.
std::string plain(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') {
      text += static_cast<char>(c - 'A' + 'a');
    } else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      text += c;
    }
  }
  return text;
}

template <std::size_t size>
bool ends_with_one_of(std::string_view text, const std::array<std::string_view, size>& endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [&](std::string_view ending) { return text.ends_with(ending); });
}

bool is_password_name(std::string_view name) { return ends_with_one_of(plain(name), kPasswords); }

std::size_t skip(std::string_view text, std::size_t at, std::string_view characters) {
  const std::size_t end = text.find_first_not_of(characters, at);
  return end == std::string_view::npos ? text.size() : end;
}

/// An opening quote, perhaps escaped any number of times: `"`, `\"`, `\\\"`.
std::string_view quote_at(std::string_view text, std::size_t at) {
  const std::size_t mark = skip(text, at, "\\");
  if (mark >= text.size() || std::string_view("\"'`").find(text[mark]) == std::string_view::npos) {
    return {};
  }
  return text.substr(at, mark + 1 - at);
}

/// Where the quoted value ends; nothing when the quote is not closed soon, on the same line.
std::optional<std::size_t> closing(std::string_view text, std::size_t begin,
                                   std::string_view quote) {
  const std::string_view near = text.substr(begin, kLongestValue);
  const std::size_t end = near.find(quote);
  if (end == std::string_view::npos || near.substr(0, end).find('\n') != near.npos) {
    return std::nullopt;
  }
  return begin + end;
}

/// Only white space, a dash, a quote or `export` stands before it on its line.
bool begins_line(std::string_view text, std::size_t at) {
  const std::size_t start = at > kLongestIndent ? at - kLongestIndent : 0;
  std::string_view before = text.substr(start, at - start);
  const std::size_t line = before.rfind('\n');
  if (line != std::string_view::npos) {
    before.remove_prefix(line + 1);
  } else if (start > 0) {
    return false;
  }
  if (before.starts_with("export ")) before.remove_prefix(7);
  return before.find_first_not_of(" \t-\"'\\{,") == std::string_view::npos;
}

/// An unquoted word is a secret less often: prose has colons too.
bool is_bare_secret(std::string_view name, std::string_view value, bool assigned) {
  const bool digit =
      std::any_of(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (is_password_name(name)) return assigned ? value.size() >= 3 : value.size() >= 4 && digit;
  return value.size() >= 8 && digit;
}

}  // namespace

bool is_secret_name(std::string_view name) {
  if (name.size() > kLongestName) return false;
  const std::string word = plain(name);
  if (ends_with_one_of(word, kNoSecrets)) return false;
  return ends_with_one_of(word, kPasswords) || ends_with_one_of(word, kKeys);
}

bool is_secret_value(std::string_view name, std::string_view value) {
  if (value.size() < 3 || value.starts_with("[REDACTED")) return false;
  if (std::string_view("$<%{").find(value.front()) != std::string_view::npos) return false;
  if (value.find_first_of("()") != std::string_view::npos && value.find(' ') == value.npos &&
      value.ends_with(')')) {
    return false;  // a call
  }
  if (value.find("process.env") != value.npos || value.find("os.environ") != value.npos)
    return false;
  const std::string word = plain(value);
  if (word.empty()) return false;  // *** or …
  if (std::find(kPlaceholders.begin(), kPlaceholders.end(), word) != kPlaceholders.end()) {
    return false;
  }
  if (is_password_name(name)) return true;
  const bool number =
      word.size() == value.size() &&
      std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
  return value.size() >= 6 && !number && value.find(' ') == std::string_view::npos;
}

std::optional<SecretSpan> find_assigned(std::string_view text, std::size_t at) {
  if (!is_name(text[at]) || (at > 0 && is_name(text[at - 1]))) return std::nullopt;
  std::size_t end = at;
  while (end < text.size() && is_name(text[end])) ++end;
  const std::string_view name = text.substr(at, end - at);
  if (!is_secret_name(name)) return std::nullopt;

  const std::string_view name_quote = quote_at(text, end);
  std::size_t next = skip(text, end + name_quote.size(), " \t");
  bool assigned = false;
  if (next < text.size() && (text[next] == '=' || text[next] == ':')) {
    assigned = text[next] == '=';
    ++next;
    if (next < text.size() && (text[next] == '>' || text[next] == '=')) ++next;
  } else if (!name.starts_with("--") || next == end) {
    return std::nullopt;
  } else {
    assigned = true;
  }
  next = skip(text, next, " \t");

  const std::string_view quote = quote_at(text, next);
  if (!quote.empty()) {
    const std::size_t begin = next + quote.size();
    const auto close = closing(text, begin, quote);
    if (!close || !is_secret_value(name, text.substr(begin, *close - begin))) return std::nullopt;
    return SecretSpan{begin, *close};
  }
  std::size_t stop = std::min(text.find_first_of(" \t\r\n,;&\"'`<>|\\)}]", next), text.size());
  const std::string_view value = text.substr(next, stop - next);
  if (!is_secret_value(name, value)) return std::nullopt;
  if (!is_bare_secret(name, value, assigned || begins_line(text, at))) return std::nullopt;
  return SecretSpan{next, stop};
}

}  // namespace threadstore::exchange
