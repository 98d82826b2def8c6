#include "state/search/searchable_text.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/case_fold.h"

namespace threadstore::state {
namespace {

constexpr std::array skipped_keys{std::string_view("type"), std::string_view("role"),
                                  std::string_view("encrypted_content"),
                                  std::string_view("signature")};
/// A longer string without a single space is data, such as an image in base64.
constexpr std::size_t longest_word = 4096;

/// Collects the strings of a JSON text without building a tree of it.
class StringCollector : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool key(string_t& name) override {
    skip_ = std::find(skipped_keys.begin(), skipped_keys.end(), name) != skipped_keys.end();
    return true;
  }
  bool string(string_t& value) override {
    const bool data =
        value.size() > longest_word && value.find_first_of(" \n\t") == std::string::npos;
    if (!skip_ && !data) (texts_ += value) += '\n';
    return other();
  }
  bool null() override { return other(); }
  bool boolean(bool) override { return other(); }
  bool number_integer(number_integer_t) override { return other(); }
  bool number_unsigned(number_unsigned_t) override { return other(); }
  bool number_float(number_float_t, const string_t&) override { return other(); }
  bool binary(binary_t&) override { return other(); }
  bool start_object(std::size_t) override { return other(); }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return other(); }
  bool end_array() override { return true; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override {
    texts_.clear();
    return false;
  }

  std::string take() { return std::move(texts_); }

 private:
  /// The value of a skipped key is over.
  bool other() {
    skip_ = false;
    return true;
  }

  std::string texts_;
  bool skip_ = false;
};

}  // namespace

std::string on_one_line(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > ' ' && byte != 0x7f) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  if (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

std::string texts_of_item(std::string_view item) {
  StringCollector collector;
  nlohmann::json::sax_parse(item, &collector);
  return collector.take();
}

SearchableText::SearchableText(std::string_view text)
    : shown(on_one_line(text)), folded(base::fold_case(shown)) {}

SearchableMessage::SearchableMessage(std::string_view text,
                                     const std::optional<std::string>& item_json)
    : content(text), item(item_json ? texts_of_item(*item_json) : std::string()) {}

}  // namespace threadstore::state
