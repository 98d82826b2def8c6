#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "cli/terminal/style.h"

namespace threadstore::cli {

/// A cell's text comes from anywhere: it is shown escaped, on one line.
struct Cell {
  std::string text{};
  Tone tone = Tone::plain;
};

/// Rows with aligned columns. The last column is cut at `width` columns of the terminal; 0: nothing
/// is cut. Nothing is printed without rows.
class Table {
 public:
  explicit Table(std::vector<std::string> headings) : headings_(std::move(headings)) {}

  void add(std::vector<Cell> row);
  void print(std::ostream& out, const Style& style, std::size_t width) const;

 private:
  std::vector<std::string> headings_;
  std::vector<std::vector<Cell>> rows_;
};

/// The width to cut at: of the terminal behind the descriptor, or 0 when it is none.
std::size_t table_width(int descriptor);

}  // namespace threadstore::cli
