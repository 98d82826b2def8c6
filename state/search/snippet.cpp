#include "state/search/snippet.h"

#include <algorithm>

#include "base/utf8.h"

namespace threadstore::state {
namespace {

constexpr std::size_t before_hit = 50;
constexpr std::size_t most_shown = 160;  // code points
constexpr std::string_view ellipsis = "…";

std::size_t first_hit(std::string_view folded, const std::vector<SearchTerm>& terms) {
  std::size_t first = std::string_view::npos;
  for (const SearchTerm& term : terms) first = std::min(first, term.find(folded));
  return first;
}

/// `count` code points of the text from the `start`-th on.
std::string_view window(std::string_view text, std::size_t start, std::size_t count) {
  text.remove_prefix(base::cut_to_code_points(text, start).size());
  return base::cut_to_code_points(text, count);
}

/// The bytes of `shown` at the place that these bytes have in `folded`: both have the same number
/// of code points, but "İ" and the like do not fold to as many bytes.
SnippetMark same_place(std::string_view shown, std::string_view folded, SnippetMark place) {
  const auto bytes = [&](std::size_t end) {
    const std::size_t points = base::count_code_points(folded.substr(0, end));
    return base::cut_to_code_points(shown, points).size();
  };
  const std::size_t offset = bytes(place.offset);
  return {.offset = offset, .length = bytes(place.offset + place.length) - offset};
}

std::vector<SnippetMark> places_of(std::string_view folded, const std::vector<SearchTerm>& terms) {
  std::vector<SnippetMark> found;
  for (const SearchTerm& term : terms) {
    for (std::size_t at = term.find(folded); at != std::string_view::npos;
         at = term.find(folded, at + term.text.size())) {
      found.push_back({.offset = at, .length = term.text.size()});
    }
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.offset < b.offset; });
  std::vector<SnippetMark> merged;
  for (const SnippetMark& place : found) {
    if (!merged.empty() && place.offset <= merged.back().offset + merged.back().length) {
      const std::size_t end =
          std::max(merged.back().offset + merged.back().length, place.offset + place.length);
      merged.back().length = end - merged.back().offset;
    } else {
      merged.push_back(place);
    }
  }
  return merged;
}

}  // namespace

Snippet make_snippet(const SearchableMessage& message, const std::vector<SearchTerm>& terms) {
  const bool in_content = first_hit(message.content.folded, terms) != std::string::npos;
  const SearchableText& text = in_content ? message.content : message.item;
  const std::size_t hit = std::min(first_hit(text.folded, terms), text.folded.size());
  const std::size_t points = base::count_code_points(std::string_view(text.folded).substr(0, hit));
  const std::size_t start = points - std::min(points, before_hit);

  const std::string_view shown = window(text.shown, start, most_shown);
  const std::string_view folded = window(text.folded, start, most_shown);
  Snippet snippet;
  if (start > 0) snippet.text = ellipsis;
  for (const SnippetMark& place : places_of(folded, terms)) {
    SnippetMark mark = same_place(shown, folded, place);
    mark.offset += snippet.text.size();
    snippet.marks.push_back(mark);
  }
  snippet.text += shown;
  const bool whole = shown.data() + shown.size() == text.shown.data() + text.shown.size();
  if (!whole) snippet.text += ellipsis;
  return snippet;
}

}  // namespace threadstore::state
