#include "tests/state/runs/run_api.h"

#include <filesystem>
#include <regex>
#include <utility>

#include "tests/support/temp_dir.h"

namespace threadstore::test {
namespace {

namespace fs = std::filesystem;

std::string without_comments(const std::string& text) {
  return std::regex_replace(text, std::regex("//[^\n]*"), "");
}

/// The declarations of a class's public part, without the bodies of inline functions.
std::vector<std::string> public_declarations(const std::string& body) {
  std::vector<std::string> declarations;
  std::string declaration;
  int depth = 0;   // of an inline function's body
  int parens = 0;  // braces within them are default arguments
  for (const char c : body) {
    if (depth == 0) parens += (c == '(') - (c == ')');
    if (parens == 0 && c == '{') ++depth;
    const bool end = depth == 0 && parens == 0 && c == ';';
    const bool end_of_body = parens == 0 && c == '}' && --depth == 0;
    if (end || end_of_body) {
      declarations.push_back(std::exchange(declaration, {}));
    } else if (depth == 0) {
      declaration += c;
    }
  }
  return declarations;
}

void add_method(const std::string& owner, std::string declaration, std::vector<ApiMethod>& api) {
  declaration = std::regex_replace(declaration, std::regex("\\s+"), " ");
  static const std::regex function(R"( ?([^()]*?)(\w+)\((.*)\)( const)?( noexcept)? ?)");
  static const std::regex other("(friend|using|explicit|static) .*");
  std::smatch match;
  if (!std::regex_match(declaration, match, function)) return;
  if (std::regex_match(match[1].str(), other) || match[2] == owner) return;
  api.push_back({owner + "::" + match[2].str(), match[3].str(), !match[4].matched});
}

void read_header(const fs::path& file, std::vector<ApiMethod>& api) {
  const std::string text = without_comments(read_file(file));
  static const std::regex begin("\nclass (\\w+) \\{");
  for (std::sregex_iterator found(text.begin(), text.end(), begin), none; found != none; ++found) {
    const auto start = static_cast<std::size_t>(found->position() + found->length());
    const std::string body = text.substr(start, text.find("\n};", start) - start);
    const std::size_t opened = body.find(" public:") + 8;
    const std::size_t closed = body.find(" private:");
    for (std::string& one : public_declarations(body.substr(opened, closed - opened))) {
      add_method((*found)[1], std::move(one), api);
    }
  }
}

}  // namespace

std::vector<ApiMethod> run_api() {
  std::vector<ApiMethod> api;
  for (const auto& entry : fs::directory_iterator(RUN_HEADERS)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("run") || name == "turns.h") read_header(entry.path(), api);
  }
  return api;
}

}  // namespace threadstore::test
