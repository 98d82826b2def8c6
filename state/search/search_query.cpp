#include "state/search/search_query.h"

#include <algorithm>

#include "base/utf8.h"
#include "state/search/search_words.h"
#include "state/search/searchable_text.h"

namespace threadstore::state {
namespace {

using Node = ParsedQuery::Node;
using Kind = Node::Kind;
using Word = SearchWord::Kind;

constexpr std::size_t most_words = 200;  // also bounds the recursion
constexpr std::size_t trigram = 3;

/// Letters and digits of any script, and what identifiers are made of.
bool continues_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
}

/// A group of one is that one.
Node group(Kind kind, std::vector<Node> children) {
  if (children.size() == 1 && kind != Kind::none) return std::move(children.front());
  return {.kind = kind, .children = std::move(children)};
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), words_(split_query(text)) {
    if (words_.empty()) throw_bad_query(text_, "it is empty");
    if (words_.size() > most_words) throw_bad_query(text_, "it has more than 200 words");
  }

  Node parse() {
    Node root = alternatives();
    if (at_ < words_.size()) throw_misplaced();
    return root;
  }

 private:
  bool is(Word kind) const { return at_ < words_.size() && words_[at_].kind == kind; }
  bool take(Word kind) { return is(kind) && ++at_ > 0; }

  Node alternatives() {
    std::vector<Node> children;
    do children.push_back(conjunction());
    while (take(Word::or_word));
    return group(Kind::any, std::move(children));
  }

  Node conjunction() {
    std::vector<Node> children{factor()};
    while (at_ < words_.size() && !is(Word::or_word) && !is(Word::close)) {
      take(Word::and_word);
      children.push_back(factor());
    }
    return group(Kind::all, std::move(children));
  }

  Node factor() {
    if (take(Word::not_word)) return group(Kind::none, {factor()});
    if (take(Word::open)) {
      Node inner = alternatives();
      if (!take(Word::close)) throw_misplaced();
      return inner;
    }
    if (!is(Word::term)) throw_misplaced();
    const SearchWord& word = words_[at_++];
    SearchTerm term{.text = SearchableText(word.text).folded, .prefix = word.prefix};
    if (term.text.empty()) throw_bad_query(text_, "a phrase is empty");
    return {.term = std::move(term)};
  }

  [[noreturn]] void throw_misplaced() const {
    throw_bad_query(text_,
                    "AND and OR stand between two words, NOT before one, and ( ) around some");
  }

  const std::string_view text_;
  const std::vector<SearchWord> words_;
  std::size_t at_ = 0;
};

/// False for what would find nearly everything: a query of NOT only.
bool asks_for_something(const Node& node) {
  const auto asks = [](const Node& child) { return asks_for_something(child); };
  switch (node.kind) {
    case Kind::term:
      return true;
    case Kind::all:
      return std::any_of(node.children.begin(), node.children.end(), asks);
    case Kind::any:
      return std::all_of(node.children.begin(), node.children.end(), asks);
    case Kind::none:
      return false;
  }
  return false;
}

bool matches_node(const Node& node, std::string_view document) {
  const auto matching = [&](const Node& child) { return matches_node(child, document); };
  switch (node.kind) {
    case Kind::term:
      return node.term.find(document) != std::string_view::npos;
    case Kind::all:
      return std::all_of(node.children.begin(), node.children.end(), matching);
    case Kind::any:
      return std::any_of(node.children.begin(), node.children.end(), matching);
    case Kind::none:
      return !matching(node.children.front());
  }
  return false;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + '"';
}

std::optional<std::string> expression(const Node& node) {
  if (node.kind == Kind::none) return std::nullopt;
  if (node.kind == Kind::term) {
    if (base::count_code_points(node.term.text) < trigram) return std::nullopt;
    return quoted(node.term.text);
  }
  std::string joined;
  for (const Node& child : node.children) {
    const auto part = expression(child);
    if (!part && node.kind == Kind::any) return std::nullopt;
    if (!part) continue;
    if (!joined.empty()) joined += node.kind == Kind::all ? " AND " : " OR ";
    joined += *part;
  }
  if (joined.empty()) return std::nullopt;
  return '(' + joined + ')';
}

void collect_terms(const Node& node, std::vector<SearchTerm>& terms) {
  if (node.kind == Kind::term) terms.push_back(node.term);
  if (node.kind == Kind::none) return;
  for (const Node& child : node.children) collect_terms(child, terms);
}

}  // namespace

std::size_t SearchTerm::find(std::string_view folded, std::size_t from) const {
  std::size_t at = folded.find(text, from);
  if (!prefix) return at;
  while (at != std::string_view::npos && at > 0 && continues_word(folded[at - 1])) {
    at = folded.find(text, at + 1);
  }
  return at;
}

ParsedQuery ParsedQuery::parse(std::string_view text) {
  Node root = Parser(text).parse();
  if (!asks_for_something(root)) {
    throw_bad_query(text, "it says only what not to find; add a word to find");
  }
  return ParsedQuery(std::move(root));
}

bool ParsedQuery::matches(std::string_view document) const { return matches_node(root_, document); }

std::optional<std::string> ParsedQuery::index_expression() const { return expression(root_); }

std::vector<SearchTerm> ParsedQuery::terms_to_mark() const {
  std::vector<SearchTerm> terms;
  collect_terms(root_, terms);
  return terms;
}

}  // namespace threadstore::state
