#include "cli/resolve/json_members.h"

#include <nlohmann/json.hpp>
#include <string_view>

#include "threadstore/error.h"

namespace threadstore::cli {
namespace {

/// Walks over JSON text that is known to be valid.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  char skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\n\r").find(text_[at_]) != text_.npos) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  void step() { ++at_; }

  /// The text of the value that begins here.
  std::string take_value() {
    const std::size_t start = at_;
    std::size_t depth = 0;
    bool in_string = false;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (in_string) {
        if (c == '\\') {
          ++at_;
        } else if (c == '"') {
          in_string = false;
        }
      } else if (c == '"') {
        in_string = true;
      } else if (c == '{' || c == '[') {
        ++depth;
      } else if (depth == 0 && (c == ',' || c == '}' || c == ':')) {
        break;
      } else if (c == '}' || c == ']') {
        --depth;
      }
    }
    std::string_view value = text_.substr(start, at_ - start);
    while (!value.empty() && std::string_view(" \t\n\r").find(value.back()) != value.npos) {
      value.remove_suffix(1);
    }
    return std::string(value);
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

[[noreturn]] void fail(const std::string& why) { throw Error(ErrorCode::invalid_argument, why); }

void check_syntax(const std::string& text) {
  if (nlohmann::json::accept(text)) return;
  try {
    [[maybe_unused]] const auto parsed = nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    const std::string_view what = error.what();
    const std::size_t colon = what.find("] ");  // behind "[json.exception.parse_error.101] "
    fail("not valid JSON: " + std::string(colon == what.npos ? what : what.substr(colon + 2)));
  }
}

}  // namespace

std::vector<std::pair<std::string, std::string>> json_members(const std::string& text) {
  check_syntax(text);
  Cursor cursor(text);
  if (cursor.skip_space() != '{') fail("not a JSON object");
  cursor.step();
  std::vector<std::pair<std::string, std::string>> members;
  while (cursor.skip_space() != '}') {
    std::string name = json_string("a name", cursor.take_value());
    cursor.skip_space();
    cursor.step();  // the colon
    cursor.skip_space();
    members.emplace_back(std::move(name), cursor.take_value());
    if (cursor.skip_space() == ',') cursor.step();
  }
  return members;
}

std::string json_string(const std::string& name, const std::string& value) {
  const auto parsed = value.starts_with('"') ? nlohmann::json::parse(value) : nlohmann::json();
  if (!parsed.is_string()) fail("\"" + name + "\" must be a string");
  return parsed.get<std::string>();
}

}  // namespace threadstore::cli
