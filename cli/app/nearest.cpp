#include "cli/app/nearest.h"

#include <algorithm>
#include <numeric>

namespace threadstore::cli {
namespace {

/// Levenshtein distance in bytes.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& names) {
  constexpr std::size_t longest_mistyped = 32;  // a long text is no mistyped name
  if (word.size() > longest_mistyped) return std::nullopt;
  std::optional<std::string> best;
  std::size_t best_distance = word.size() < 4 ? 2 : 3;
  for (const std::string& name : names) {
    const bool begins = word.size() >= 2 && name.substr(0, word.size()) == word;
    const std::size_t steps = begins ? 0 : distance(word, name);
    if (steps < best_distance) {
      best = name;
      best_distance = steps;
    }
  }
  return best;
}

}  // namespace threadstore::cli
