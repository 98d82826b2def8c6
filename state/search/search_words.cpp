#include "state/search/search_words.h"

#include <algorithm>

#include "base/utf8.h"
#include "threadstore/error.h"

namespace threadstore::state {
namespace {

constexpr std::string_view white_space = " \t\r\n\f\v";

class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text), rest_(text) {}

  std::vector<SearchWord> split() {
    while (skip_white_space()) {
      if (rest_[0] == '(') {
        take_parenthesis(SearchWord::Kind::open);
        ++depth_;
      } else if (rest_[0] == ')' && depth_ > 0) {
        take_parenthesis(SearchWord::Kind::close);
        --depth_;
      } else if (rest_[0] == '"') {
        take_phrase();
      } else {
        take_word();
      }
    }
    if (depth_ > 0) throw_bad_query(text_, "a \"(\" has no \")\"");
    return std::move(words_);
  }

 private:
  bool skip_white_space() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(white_space), rest_.size()));
    return !rest_.empty();
  }

  void take_parenthesis(SearchWord::Kind kind) {
    words_.push_back({.kind = kind});
    rest_.remove_prefix(1);
  }

  void take_phrase() {
    const std::size_t end = rest_.find('"', 1);
    if (end == std::string_view::npos) throw_bad_query(text_, "a double quote has no partner");
    SearchWord word{.text = std::string(rest_.substr(1, end - 1))};
    rest_.remove_prefix(end + 1);
    if (rest_.starts_with('*')) {
      word.prefix = true;
      rest_.remove_prefix(1);
    }
    words_.push_back(std::move(word));
  }

  /// A closing parenthesis ends a word only when a group is open and the word did not open it.
  std::size_t end_of_word() const {
    int inner = 0;
    for (std::size_t at = 0; at < rest_.size(); ++at) {
      const char c = rest_[at];
      if (white_space.find(c) != std::string_view::npos) return at;
      if (c == '(') ++inner;
      if (c == ')' && inner-- == 0 && depth_ > 0) return at;
    }
    return rest_.size();
  }

  void take_word() {
    using Kind = SearchWord::Kind;
    std::string text(rest_.substr(0, end_of_word()));
    rest_.remove_prefix(text.size());
    SearchWord word;
    if (text == "AND") word.kind = Kind::and_word;
    if (text == "OR") word.kind = Kind::or_word;
    if (text == "NOT") word.kind = Kind::not_word;
    if (text.size() > 1 && text.back() == '*') {
      word.prefix = true;
      text.pop_back();
    }
    if (word.kind == Kind::term) word.text = std::move(text);
    words_.push_back(std::move(word));
  }

  const std::string_view text_;
  std::string_view rest_;
  int depth_ = 0;  ///< groups that are open
  std::vector<SearchWord> words_;
};

}  // namespace

std::vector<SearchWord> split_query(std::string_view text) { return Splitter(text).split(); }

void throw_bad_query(std::string_view query, const std::string& why) {
  throw Error(
      ErrorCode::invalid_argument,
      "cannot search for '" + std::string(base::cut_to_code_points(query, 80)) + "': " + why +
          ". Write words that must all occur, \"a phrase\", begin*, AND, OR, NOT and ( ); in "
          "double quotes nothing is special");
}

}  // namespace threadstore::state
