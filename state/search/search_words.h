#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace threadstore::state {

/// One piece of a query's text.
struct SearchWord {
  enum class Kind { term, and_word, or_word, not_word, open, close };

  Kind kind = Kind::term;
  std::string text{};   ///< of a term, as it was given
  bool prefix = false;  ///< a term that must stand where a word begins
};

/// Splits a query. Parentheses group only around words: `main()` is one word. Throws
/// `invalid_argument` for a quote or a parenthesis without its partner.
std::vector<SearchWord> split_query(std::string_view text);

/// Throws `invalid_argument` that says what is wrong and how a query is written.
[[noreturn]] void throw_bad_query(std::string_view query, const std::string& why);

}  // namespace threadstore::state
