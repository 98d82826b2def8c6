#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace threadstore::base {

/// One step through UTF-8 text. `length` is the number of bytes to go on by, at least 1.
struct CodePoint {
  char32_t value = 0;
  std::size_t length = 1;
  bool valid =
      false;  ///< false: `length` bytes are the longest prefix of a sequence that broke off
};

/// Decodes what begins at `offset`, which must be inside `text`. Overlong forms, surrogates and
/// values above U+10FFFF are invalid.
CodePoint decode_utf8(std::string_view text, std::size_t offset);

/// The offset of the first byte that is not part of valid UTF-8; nothing when all is valid. Fast
/// enough for contents of 100 MB.
std::optional<std::size_t> find_invalid_utf8(std::string_view text);

/// How many code points the text has; each invalid sequence counts as one.
std::size_t count_code_points(std::string_view text);

/// The longest prefix of at most `max_bytes` bytes that does not end inside a code point.
std::string_view cut_to_bytes(std::string_view text, std::size_t max_bytes);

/// The first `max_code_points` code points.
std::string_view cut_to_code_points(std::string_view text, std::size_t max_code_points);

}  // namespace threadstore::base
