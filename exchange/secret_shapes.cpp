#include "exchange/secret_shapes.h"

#include <algorithm>
#include <array>

// Every look at a text costs a bounded number of steps but for what is then taken out, so that a
// text is read in linear time.
namespace threadstore::exchange {
namespace {

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alnum(char c) { return is_upper(c) || is_lower(c) || is_digit(c); }
bool is_word(char c) { return is_alnum(c) || c == '_' || c == '-'; }
bool is_bearer(char c) {
  return is_word(c) || std::string_view("._~+/=").find(c) != std::string_view::npos;
}

char lower(char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

bool starts_with_any_case(std::string_view text, std::string_view lower_case) {
  return text.size() >= lower_case.size() &&
         std::equal(lower_case.begin(), lower_case.end(), text.begin(),
                    [](char wanted, char given) { return wanted == lower(given); });
}

template <class Accept>
std::size_t run_length(std::string_view text, std::size_t at, Accept accept) {
  std::size_t end = at;
  while (end < text.size() && accept(text[end])) ++end;
  return end - at;
}

enum class Alphabet { alnum, upper, word };

bool fits(Alphabet alphabet, char c) {
  if (alphabet == Alphabet::upper) return is_upper(c) || is_digit(c);
  if (alphabet == Alphabet::word) return is_word(c);
  return is_alnum(c) || c == '_';
}

struct Shape {
  std::string_view prefix;
  Alphabet alphabet = Alphabet::alnum;
  std::size_t least = 0;  ///< characters behind the prefix
  std::size_t most = 4096;
  bool random = false;  ///< ordinary words begin so too: the rest must look like chance
};

constexpr std::array kShapes{
    Shape{"sk-", Alphabet::word, 20, 4096, true},
    Shape{"sk_live_", Alphabet::alnum, 16},
    Shape{"sk_test_", Alphabet::alnum, 16},
    Shape{"rk_live_", Alphabet::alnum, 16},
    Shape{"ghp_", Alphabet::alnum, 30},
    Shape{"gho_", Alphabet::alnum, 30},
    Shape{"ghu_", Alphabet::alnum, 30},
    Shape{"ghs_", Alphabet::alnum, 30},
    Shape{"ghr_", Alphabet::alnum, 30},
    Shape{"github_pat_", Alphabet::alnum, 22},
    Shape{"glpat-", Alphabet::word, 20},
    Shape{"npm_", Alphabet::alnum, 36},
    Shape{"pypi-", Alphabet::word, 40, 4096, true},
    Shape{"hf_", Alphabet::alnum, 30, 4096, true},
    Shape{"dckr_pat_", Alphabet::word, 20},
    Shape{"xoxb-", Alphabet::word, 10},
    Shape{"xoxa-", Alphabet::word, 10},
    Shape{"xoxp-", Alphabet::word, 10},
    Shape{"xoxr-", Alphabet::word, 10},
    Shape{"xoxs-", Alphabet::word, 10},
    Shape{"xoxe-", Alphabet::word, 10},
    Shape{"xapp-", Alphabet::word, 10},
    Shape{"AKIA", Alphabet::upper, 16, 16},
    Shape{"ASIA", Alphabet::upper, 16, 16},
    Shape{"AIza", Alphabet::word, 35, 35},
};

/// A digit, and a stretch of 16 letters and digits: names made of words have neither, or short
/// ones.
bool looks_random(std::string_view text) {
  std::size_t longest = 0, current = 0;
  bool digit = false;
  for (const char c : text) {
    current = is_alnum(c) ? current + 1 : 0;
    longest = std::max(longest, current);
    digit = digit || is_digit(c);
  }
  return digit && longest >= 16;
}

/// Three parts of base64url, of which the first two begin like `{"`.
std::optional<SecretSpan> find_web_token(std::string_view text, std::size_t at) {
  if (!text.substr(at).starts_with("eyJ")) return std::nullopt;
  const std::size_t first = run_length(text, at, is_word);
  std::size_t next = at + first;
  if (first < 13 || !text.substr(next).starts_with(".eyJ")) return std::nullopt;
  next += 1 + run_length(text, next + 1, is_word);
  if (next >= text.size() || text[next] != '.') return std::nullopt;
  const std::size_t last = run_length(text, next + 1, is_word);
  if (last < 10) return std::nullopt;
  return SecretSpan{at, next + 1 + last};
}

std::optional<SecretSpan> find_bearer(std::string_view text, std::size_t at) {
  constexpr std::string_view word = "bearer";
  if (!starts_with_any_case(text.substr(at), word)) return std::nullopt;
  const std::size_t spaces = run_length(text, at + word.size(), [](char c) { return c == ' '; });
  const std::size_t begin = at + word.size() + spaces;
  const std::size_t length = run_length(text, begin, is_bearer);
  const std::string_view token = text.substr(begin, length);
  if (spaces == 0 || length < 16 || std::none_of(token.begin(), token.end(), is_digit)) {
    return std::nullopt;
  }
  return SecretSpan{begin, begin + length};
}

/// What stands between the lines BEGIN … PRIVATE KEY and END …; without an END all that follows.
std::optional<SecretSpan> find_private_key(std::string_view text, std::size_t at) {
  constexpr std::string_view begin = "-----BEGIN ";
  constexpr std::string_view kind = "PRIVATE KEY";
  if (!text.substr(at).starts_with(begin)) return std::nullopt;
  const std::string_view label = text.substr(at + begin.size(), 60);
  const std::size_t dashes = label.find("-----");
  if (dashes == std::string_view::npos || label.substr(0, dashes).find(kind) == label.npos) {
    return std::nullopt;
  }
  const std::size_t body = at + begin.size() + dashes + 5;
  const std::size_t end = std::min(text.find("-----END ", body), text.size());
  if (end == body) return std::nullopt;
  return SecretSpan{body, end};
}

std::optional<SecretSpan> find_url_password(std::string_view text, std::size_t at) {
  if (!text.substr(at).starts_with("://")) return std::nullopt;
  const auto part = [](char c) {
    return static_cast<unsigned char>(c) > ' ' &&
           std::string_view("/@:\"'<>\\?#").find(c) == std::string_view::npos;
  };
  const std::size_t colon = at + 3 + run_length(text, at + 3, part);
  if (colon >= text.size() || text[colon] != ':') return std::nullopt;
  const std::size_t begin = colon + 1;
  const std::size_t end =
      begin + run_length(text, begin, [&](char c) { return part(c) || c == ':'; });
  if (end == begin || end >= text.size() || text[end] != '@') return std::nullopt;
  if (!is_secret_value("password", text.substr(begin, end - begin))) return std::nullopt;
  return SecretSpan{begin, end};
}

}  // namespace

std::optional<SecretSpan> find_token(std::string_view text, std::size_t at) {
  if (at > 0 && is_word(text[at - 1])) return std::nullopt;
  for (const Shape& shape : kShapes) {
    if (!text.substr(at).starts_with(shape.prefix)) continue;
    const std::size_t begin = at + shape.prefix.size();
    const std::size_t length =
        run_length(text, begin, [&](char c) { return fits(shape.alphabet, c); });
    if (length < shape.least || length > shape.most) continue;
    const std::size_t end = begin + length;
    if (end < text.size() && is_word(text[end])) continue;
    if (shape.random && !looks_random(text.substr(begin, length))) continue;
    return SecretSpan{at, end};
  }
  return find_web_token(text, at);
}

std::optional<SecretSpan> find_introduced(std::string_view text, std::size_t at) {
  const char c = text[at];
  if (c == '-') return find_private_key(text, at);
  if (c == ':') return find_url_password(text, at);
  if ((c == 'b' || c == 'B') && (at == 0 || !is_word(text[at - 1]))) return find_bearer(text, at);
  return std::nullopt;
}

}  // namespace threadstore::exchange
