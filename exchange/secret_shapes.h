#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace threadstore::exchange {

/// Where a secret stands in a text, in bytes.
struct SecretSpan {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// The secret that begins at `at`, told by its own shape: `sk-…`, `ghp_…`, `AKIA…`, a JSON web
/// token and so on. Nothing inside of a longer word.
std::optional<SecretSpan> find_token(std::string_view text, std::size_t at);

/// The secret whose introduction begins at `at`: `Bearer …`, a private key block, the password in
/// `scheme://user:password@host`.
std::optional<SecretSpan> find_introduced(std::string_view text, std::size_t at);

/// Whether a value of that name is a secret: `password`, `DB_PASSWORD`, `clientSecret`, `api-key`.
bool is_secret_name(std::string_view name);

/// Whether this is a value at all, and not a placeholder, a word of a type, or a variable.
bool is_secret_value(std::string_view name, std::string_view value);

/// The secret in `name = value` when the name begins at `at`: with `=`, `:` or `=>`, with and
/// without quotes, also escaped ones, or as `--name value`.
std::optional<SecretSpan> find_assigned(std::string_view text, std::size_t at);

}  // namespace threadstore::exchange
