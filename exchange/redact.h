#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace threadstore::exchange {

/// Replaces what looks like a secret by `[REDACTED]`: the token shapes of well-known services, JSON
/// web tokens, bearer tokens, private key blocks, passwords in URLs, and values of names such as
/// `password`, `token` or `api_key`. Recognises shapes only: a secret without one stays. Not
/// thread-safe.
class Redactor {
 public:
  static constexpr std::string_view mark = "[REDACTED]";

  /// The text without its secrets. Everything around them stays as it was.
  std::string text(std::string_view given);

  /// The JSON text without the secrets in its strings, whatever their depth; still valid JSON, in
  /// compact form. Strings below a name that promises a secret go as a whole. `given` must be
  /// valid.
  std::string json(std::string_view given);

  /// How many secrets were replaced so far.
  std::int64_t count() const noexcept { return count_; }

 private:
  std::string value_of(std::string_view name, std::string_view value);

  std::int64_t count_ = 0;
};

}  // namespace threadstore::exchange
