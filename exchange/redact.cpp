#include "exchange/redact.h"

#include "exchange/json_rewrite.h"
#include "exchange/secret_shapes.h"

namespace threadstore::exchange {
namespace {

std::optional<SecretSpan> find_secret(std::string_view text, std::size_t at) {
  if (auto span = find_introduced(text, at)) return span;
  if (auto span = find_token(text, at)) return span;
  return find_assigned(text, at);
}

}  // namespace

std::string Redactor::text(std::string_view given) {
  std::string out;
  std::size_t done = 0;
  for (std::size_t at = 0; at < given.size();) {
    const auto secret = find_secret(given, at);
    if (!secret) {
      ++at;
      continue;
    }
    out += given.substr(done, secret->begin - done);
    out += mark;
    ++count_;
    done = at = secret->end;
  }
  out += given.substr(done);
  return out;
}

std::string Redactor::value_of(std::string_view name, std::string_view value) {
  if (!is_secret_name(name) || !is_secret_value(name, value)) return text(value);
  ++count_;
  return std::string(mark);
}

std::string Redactor::json(std::string_view given) {
  return rewrite_json(given, [this](std::string_view name, std::string_view value) {
    return value_of(name, value);
  });
}

}  // namespace threadstore::exchange
