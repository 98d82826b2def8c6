#include "base/json.h"

#include <algorithm>
#include <bit>
#include <bitset>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/utf8.h"

namespace threadstore::base {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// How many of eight bytes, from the first in memory on, stand in a string by themselves: no quote,
/// no backslash, no control character, no part of a longer UTF-8 sequence.
std::size_t count_plain(std::uint64_t bytes) {
  constexpr std::uint64_t ones = 0x0101010101010101;
  constexpr std::uint64_t highs = 0x80 * ones;
  const auto below = [&](std::uint64_t word, std::uint64_t bound) {
    return (word - bound * ones) & ~word & highs;
  };
  const std::uint64_t quote = below(bytes ^ ('"' * ones), 1);
  const std::uint64_t backslash = below(bytes ^ ('\\' * ones), 1);
  // Bits above the lowest one that is set may be wrong.
  const std::uint64_t found = (bytes & highs) | below(bytes, 0x20) | quote | backslash;
  if (found == 0) return sizeof bytes;
  constexpr bool first_is_lowest = std::endian::native == std::endian::little;
  return first_is_lowest ? static_cast<std::size_t>(std::countr_zero(found)) / 8 : 0;
}

/// Whether a number that no double holds is too large, and not too close to zero.
bool is_huge(std::string_view token) {
  const std::size_t end = std::min(token.find_first_of("eE"), token.size());
  const std::string_view digits = token.substr(0, end);
  const std::size_t first = digits.find_first_of("123456789");
  if (first == std::string_view::npos) return false;
  std::int64_t exponent = 0;
  if (end < token.size()) {
    std::string_view text = token.substr(end + 1);
    if (text.front() == '+') text.remove_prefix(1);
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), exponent);
    const bool endless = parsed.ec == std::errc::result_out_of_range;
    if (endless || exponent > 1'000'000'000) return text.front() != '-';
  }
  const auto point = static_cast<std::int64_t>(std::min(digits.find('.'), digits.size()));
  return point - static_cast<std::int64_t>(first) + exponent > 0;
}

/// Walks the text once. What is open is a stack of one bit per level (object or array), so nesting
/// costs no recursion. Every step returns false after `fail` has noted the first fault.
class JsonCheck {
 public:
  explicit JsonCheck(std::string_view text) : text_(text) {}

  std::optional<JsonFault> run() {
    if (check_document()) return std::nullopt;
    return fault_;
  }

 private:
  bool check_document() {
    if (!value()) return false;
    while (depth_ > 0) {
      if (!continue_container()) return false;
    }
    skip_space();
    return at_ == text_.size() || fail("unexpected text after the value");
  }

  /// After a complete value inside a container: the next element or the end.
  bool continue_container() {
    skip_space();
    const bool object = is_object_[depth_ - 1];
    if (take(object ? '}' : ']')) {
      --depth_;
      return true;
    }
    if (!take(',')) {
      return fail(object ? "expected ',' or '}' in an object" : "expected ',' or ']' in an array");
    }
    return (!object || key()) && value();
  }

  /// A scalar, an empty container, or the beginning of a container up to its first complete value.
  bool value() {
    for (;;) {
      skip_space();
      if (at_ == text_.size()) return fail("unexpected end: a value is missing");
      const char c = text_[at_];
      if (c != '{' && c != '[') return scalar(c);
      if (depth_ == max_json_depth) {
        return fail("nested deeper than " + std::to_string(max_json_depth) + " levels");
      }
      ++at_;
      skip_space();
      if (take(c == '{' ? '}' : ']')) return true;
      is_object_[depth_++] = c == '{';
      if (c == '{' && !key()) return false;
    }
  }

  bool key() {
    skip_space();
    if (at_ == text_.size() || text_[at_] != '"') return fail("expected a key in double quotes");
    if (!string()) return false;
    skip_space();
    return take(':') || fail("expected ':' after a key");
  }

  bool scalar(char first) {
    switch (first) {
      case '"':
        return string();
      case 't':
        return word("true");
      case 'f':
        return word("false");
      case 'n':
        return word("null");
      default:
        return number();
    }
  }

  bool word(std::string_view expected) {
    if (text_.substr(at_, expected.size()) != expected) return fail("unknown word");
    at_ += expected.size();
    return true;
  }

  bool number() {
    const std::size_t start = at_;
    take('-');
    if (!take('0') && !digits()) return fail("unexpected character", start);
    if (take('.') && !digits()) return fail("a digit must follow the decimal point");
    bool exponent = false;
    bool tiny = false;
    if (take('e') || take('E')) {
      exponent = true;
      tiny = take('-');
      if (!tiny) take('+');
      if (!digits()) return fail("a digit is missing in the exponent");
    }
    // Only these can be too large for a double, which every other reader would stumble over.
    const std::string_view token = text_.substr(start, at_ - start);
    if ((exponent && !tiny) || token.size() > 300) {
      double ignored = 0;
      const auto parsed = std::from_chars(token.data(), token.data() + token.size(), ignored);
      if (parsed.ec == std::errc::result_out_of_range && is_huge(token)) {
        return fail("number too large", start);
      }
    }
    return true;
  }

  bool digits() {
    const std::size_t start = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    return at_ > start;
  }

  /// Most of a long text, at a tenth of the cost of looking at every byte.
  void skip_plain() {
    std::uint64_t bytes = 0;
    while (text_.size() - at_ >= sizeof bytes) {
      std::memcpy(&bytes, text_.data() + at_, sizeof bytes);
      const std::size_t plain = count_plain(bytes);
      at_ += plain;
      if (plain < sizeof bytes) return;
    }
  }

  bool string() {
    ++at_;
    while (at_ < text_.size()) {
      skip_plain();
      if (at_ == text_.size()) break;
      const auto byte = static_cast<unsigned char>(text_[at_]);
      if (byte == '"') {
        ++at_;
        return true;
      }
      if (byte == '\\') {
        if (!escape()) return false;
      } else if (byte < 0x20) {
        return fail("control character inside a string");
      } else if (byte < 0x80) {
        ++at_;
      } else {
        const CodePoint point = decode_utf8(text_, at_);
        if (!point.valid) return fail("invalid UTF-8");
        at_ += point.length;
      }
    }
    return fail("unexpected end inside a string");
  }

  bool escape() {
    const std::size_t start = at_++;
    if (at_ < text_.size() &&
        std::string_view("\"\\/bfnrt").find(text_[at_]) != std::string_view::npos) {
      ++at_;
      return true;
    }
    const std::optional<unsigned> unit = code_unit();
    if (!unit) return fail("unknown escape", start);
    if (*unit < 0xD800 || *unit > 0xDFFF) return true;
    if (*unit < 0xDC00 && take('\\')) {
      const std::optional<unsigned> low = code_unit();
      if (low && *low >= 0xDC00 && *low <= 0xDFFF) return true;
    }
    return fail("half a surrogate pair", start);
  }

  /// What follows the backslash of "\uXXXX".
  std::optional<unsigned> code_unit() {
    if (!take('u') || text_.size() - at_ < 4) return std::nullopt;
    unsigned unit = 0;
    const char* end = text_.data() + at_ + 4;
    const auto parsed = std::from_chars(text_.data() + at_, end, unit, 16);
    if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
    at_ += 4;
    return unit;
  }

  void skip_space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) {
      ++at_;
    }
  }

  bool take(char expected) {
    if (at_ == text_.size() || text_[at_] != expected) return false;
    ++at_;
    return true;
  }

  bool fail(std::string reason) { return fail(std::move(reason), at_); }
  bool fail(std::string reason, std::size_t offset) {
    fault_ = {offset, std::move(reason)};
    return false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::bitset<max_json_depth> is_object_;
  JsonFault fault_;
};

}  // namespace

std::optional<JsonFault> find_json_fault(std::string_view text) { return JsonCheck(text).run(); }

void check_json(std::string_view text, const std::string& what, ErrorCode code) {
  const std::optional<JsonFault> fault = find_json_fault(text);
  if (!fault) return;
  throw Error(code, what + " is not valid JSON: " + fault->reason + " at byte " +
                        std::to_string(fault->offset));
}

nlohmann::json parse_json(std::string_view text, const std::string& what, ErrorCode code) {
  check_json(text, what, code);
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& e) {
    throw Error(code, what + " is not valid JSON: " + e.what());
  }
}

}  // namespace threadstore::base
