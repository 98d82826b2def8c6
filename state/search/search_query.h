#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace threadstore::state {

/// A text that a message must have, in the form that `SearchableText::folded` has.
struct SearchTerm {
  std::string text{};
  bool prefix = false;  ///< only where a word begins

  /// The offset of its first place in `folded` from `from` on; npos: none.
  std::size_t find(std::string_view folded, std::size_t from = 0) const;
};

/// What a query's text asks for (grammar: `SearchQuery`). NOT binds more than AND, which may be
/// left out, and that more than OR. Immutable.
class ParsedQuery {
 public:
  /// Throws `invalid_argument` for a text that is not a query.
  static ParsedQuery parse(std::string_view text);

  /// The truth about one message's document.
  bool matches(std::string_view document) const;

  /// An FTS5 expression that every matching message meets, and some that do not match: the index
  /// knows nothing of terms under 3 characters and of where words begin, and is not asked about
  /// NOT. Nothing when it cannot narrow the search at all.
  std::optional<std::string> index_expression() const;

  /// The terms that a match can have: what to mark in it.
  std::vector<SearchTerm> terms_to_mark() const;

  struct Node {
    enum class Kind { term, all, any, none };
    Kind kind = Kind::term;
    SearchTerm term{};
    std::vector<Node> children{};
  };

 private:
  explicit ParsedQuery(Node root) : root_(std::move(root)) {}
  Node root_;
};

}  // namespace threadstore::state
