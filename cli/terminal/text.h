#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace threadstore::cli {

/// Whether line breaks and tabs are layout that stays, or shown as `\n` and `\t`.
enum class Lines { single, multiple };

/// Makes text from anywhere safe to send to a terminal. Shown escaped: control characters (C0, DEL,
/// C1) as `\x1b`, and what reorders or hides text (direction marks and overrides, U+2028, U+2029,
/// BOM, tag and annotation characters) as `\u{202e}`; bytes that are no UTF-8 as `\xff`. With
/// `Lines::multiple` CR LF becomes a plain line break. Everything else is unchanged.
std::string escape_for_terminal(std::string_view text, Lines lines = Lines::single);

/// The same for text that arrives in pieces which may end inside a character or a CR LF.
class EscapedStream {
 public:
  explicit EscapedStream(Lines lines = Lines::multiple) : lines_(lines) {}

  /// What can be shown now; at most 3 bytes are held back until the next piece.
  std::string feed(std::string_view piece);
  /// What was held back, escaped where it stayed incomplete.
  std::string finish();

 private:
  void drain(bool last, std::string& out);
  Lines lines_;
  std::string held_;
};

/// Columns of one line on a terminal. For text that is already escaped.
std::size_t display_width(std::string_view text);

/// Breaks escaped text into lines of at most `width` columns: at spaces where possible, else
/// between characters, never inside one. Tabs become spaces (stops of 8). Empty text is one empty
/// line.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

/// The text when it fits; else as much of it as fits before an ellipsis.
std::string cut_to_width(std::string_view text, std::size_t width);

/// The text, with spaces to fill `width` columns (nothing is cut).
std::string pad_to_width(std::string_view text, std::size_t width);

/// The prefix of at most `bytes` bytes that ends between code points.
std::string_view cut_at_code_point(std::string_view text, std::size_t bytes);

/// Columns of the terminal behind a descriptor; `COLUMNS`, else 80, when it is none.
std::size_t terminal_width(int descriptor);

}  // namespace threadstore::cli
