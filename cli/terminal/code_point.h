#pragma once

#include <cstddef>
#include <string_view>

namespace threadstore::cli {

/// One step through bytes that should be UTF-8.
struct CodePoint {
  enum class Kind {
    valid,
    invalid,  ///< `bytes` is 1: the first byte fits no sequence
    cut,      ///< the text ends inside a sequence that could still become valid
  };
  Kind kind = Kind::invalid;
  char32_t value = 0;
  std::size_t bytes = 1;
};

/// The code point at the start of a non-empty text. Overlong forms, surrogates and values past
/// U+10FFFF are invalid.
CodePoint first_code_point(std::string_view text);

/// Columns that a terminal gives it: 2 for wide characters, 0 for combining ones and for what has
/// no glyph. Independent of the process's locale.
std::size_t columns_of(char32_t value);

}  // namespace threadstore::cli
