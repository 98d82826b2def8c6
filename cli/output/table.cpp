#include "cli/output/table.h"

#include <unistd.h>

#include <algorithm>

#include "cli/terminal/text.h"

namespace threadstore::cli {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kWidestCell = 40;  // of every column but the last

}  // namespace

void Table::add(std::vector<Cell> row) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    row[i].text = escape_for_terminal(row[i].text);
    if (i + 1 < row.size()) row[i].text = cut_to_width(row[i].text, kWidestCell);
  }
  rows_.push_back(std::move(row));
}

void Table::print(std::ostream& out, const Style& style, std::size_t width) const {
  if (rows_.empty()) return;
  std::vector<std::size_t> widths;
  for (const std::string& heading : headings_) widths.push_back(heading.size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(row[i].text));
    }
  }
  const auto print_cell = [&](std::size_t column, std::size_t start, Tone tone,
                              const std::string& text) {
    if (column + 1 == headings_.size()) {
      const bool cut = width > start + kGap;
      out << style.paint(tone, cut ? cut_to_width(text, width - start) : text) << '\n';
    } else {
      // Spaces stand outside the colour: an underlined or inverse tone would show them.
      const std::string padded = pad_to_width(text, widths[column] + kGap);
      out << style.paint(tone, text) << padded.substr(text.size());
    }
  };
  std::size_t start = 0;
  for (std::size_t i = 0; i < headings_.size(); ++i) {
    print_cell(i, start, Tone::faint, headings_[i]);
    start += widths[i] + kGap;
  }
  for (const auto& row : rows_) {
    start = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      print_cell(i, start, row[i].tone, row[i].text);
      start += widths[i] + kGap;
    }
  }
}

std::size_t table_width(int descriptor) {
  return ::isatty(descriptor) == 1 ? terminal_width(descriptor) : 0;
}

}  // namespace threadstore::cli
