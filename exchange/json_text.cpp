#include "exchange/json_text.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "threadstore/messages.h"

namespace threadstore::exchange {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::size_t skip_space(std::string_view text, std::size_t at) {
  while (at < text.size() && is_space(text[at])) ++at;
  return at;
}

/// Behind the string that begins at `at`. A quote ends it unless an odd number of backslashes
/// stands before it.
std::size_t skip_string(std::string_view text, std::size_t at) {
  const std::size_t begin = at + 1;
  for (std::size_t quote = text.find('"', begin); quote != std::string_view::npos;
       quote = text.find('"', quote + 1)) {
    std::size_t escape = quote;
    while (escape > begin && text[escape - 1] == '\\') --escape;
    if ((quote - escape) % 2 == 0) return quote + 1;
  }
  return text.size();
}

/// Behind the value that begins at `at`.
std::size_t skip_value(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = skip_string(text, at);
      if (depth == 0) return at;
      continue;
    }
    if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return at;
      if (--depth == 0) return at + 1;
    } else if (depth == 0 && (c == ',' || is_space(c))) {
      return at;
    }
    ++at;
  }
  return at;
}

}  // namespace

JsonText::JsonText(std::string_view valid) {
  const std::size_t start = skip_space(valid, 0);
  while (!valid.empty() && is_space(valid.back())) valid.remove_suffix(1);
  text_ = start < valid.size() ? valid.substr(start) : std::string_view();
}

void JsonText::each_member(const std::function<void(std::string_view, JsonText)>& visit) const {
  if (!is_object()) return;
  std::size_t at = skip_space(text_, 1);
  while (at < text_.size() && text_[at] == '"') {
    const std::size_t name_end = skip_string(text_, at);
    const std::string_view name = text_.substr(at + 1, name_end - at - 2);
    at = skip_space(text_, skip_space(text_, name_end) + 1);
    const std::size_t end = skip_value(text_, at);
    visit(name, JsonText(text_.substr(at, end - at)));
    at = skip_space(text_, end);
    if (at < text_.size() && text_[at] == ',') at = skip_space(text_, at + 1);
  }
}

JsonText JsonText::operator[](std::string_view name) const {
  JsonText found;
  each_member([&](std::string_view member, JsonText value) {
    if (member == name) found = value;
  });
  return found;
}

void JsonText::each(const std::function<void(JsonText)>& visit) const {
  if (!is_array()) return;
  std::size_t at = skip_space(text_, 1);
  while (at < text_.size() && text_[at] != ']') {
    const std::size_t end = skip_value(text_, at);
    visit(JsonText(text_.substr(at, end - at)));
    at = skip_space(text_, end);
    if (at < text_.size() && text_[at] == ',') at = skip_space(text_, at + 1);
  }
}

std::optional<std::string> JsonText::string_or_none() const {
  if (!is_string()) return std::nullopt;
  const std::string_view inside = text_.substr(1, text_.size() - 2);
  if (inside.find('\\') == std::string_view::npos) return std::string(inside);
  return nlohmann::json::parse(text_).get<std::string>();
}

std::string JsonText::string() const { return string_or_none().value_or(""); }

std::optional<std::int64_t> JsonText::integer() const {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
  if (error == std::errc() && end == text_.data() + text_.size()) return value;
  const auto real = number();
  constexpr double kLargest = 9e18;
  if (!real || *real > kLargest || *real < -kLargest) return std::nullopt;
  return static_cast<std::int64_t>(*real);
}

std::optional<double> JsonText::number() const {
  double value = 0;
  const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
  if (error != std::errc() || end != text_.data() + text_.size()) return std::nullopt;
  return value;
}

namespace {

/// The code unit of a "\uXXXX" that begins at `at`; -1 when none does.
int code_unit(std::string_view text, std::size_t at) {
  if (at + 6 > text.size() || text[at] != '\\' || text[at + 1] != 'u') return -1;
  int unit = 0;
  const auto [end, error] = std::from_chars(text.data() + at + 2, text.data() + at + 6, unit, 16);
  return error == std::errc() && end == text.data() + at + 6 ? unit : -1;
}

bool mend_surrogates(std::string& line) {
  bool mended = false;
  for (std::size_t at = line.find('\\'); at != std::string::npos; at = line.find('\\', at)) {
    const int unit = code_unit(line, at);
    if (unit < 0xd800 || unit > 0xdfff) {
      at += 2;
      continue;
    }
    const int next = code_unit(line, at + 6);
    if (unit < 0xdc00 && next >= 0xdc00 && next <= 0xdfff) {
      at += 12;
      continue;
    }
    line.replace(at, 6, "\\ufffd");
    mended = true;
    at += 6;
  }
  return mended;
}

}  // namespace

bool mend_json(std::string& line) {
  bool mended = false;
  if (base::find_invalid_utf8(line)) {
    line = to_valid_utf8(line);
    mended = true;
  }
  return mend_surrogates(line) || mended;
}

}  // namespace threadstore::exchange
