#include "base/utf8.h"

#include <cstdint>
#include <cstring>
#include <string>

#include "threadstore/messages.h"

namespace threadstore::base {
namespace {

/// How many bytes from `offset` on are ASCII; looks at eight at a time.
std::size_t ascii_run(std::string_view text, std::size_t offset) {
  std::size_t at = offset;
  for (; at + sizeof(std::uint64_t) <= text.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t block = 0;
    std::memcpy(&block, text.data() + at, sizeof block);
    if ((block & 0x8080808080808080U) != 0) break;
  }
  while (at < text.size() && static_cast<unsigned char>(text[at]) < 0x80) ++at;
  return at - offset;
}

/// What a lead byte promises: the sequence's length and the legal range of its second byte, which
/// alone keeps out overlong forms, surrogates and what lies above U+10FFFF.
struct Lead {
  std::size_t length;
  unsigned char second_low;
  unsigned char second_high;
};

constexpr Lead lead_of(unsigned char byte) {
  if (byte >= 0xC2 && byte <= 0xDF) return {2, 0x80, 0xBF};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte >= 0xE1 && byte <= 0xEF) return {3, 0x80, 0xBF};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte >= 0xF1 && byte <= 0xF3) return {4, 0x80, 0xBF};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

}  // namespace

CodePoint decode_utf8(std::string_view text, std::size_t offset) {
  const auto byte_at = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char first = byte_at(offset);
  if (first < 0x80) return {first, 1, true};
  const Lead lead = lead_of(first);
  if (lead.length == 0) return {};
  char32_t value = first & (0x7FU >> lead.length);
  for (std::size_t i = 1; i < lead.length; ++i) {
    if (offset + i >= text.size()) return {0, i, false};
    const unsigned char next = byte_at(offset + i);
    const unsigned char low = i == 1 ? lead.second_low : 0x80;
    const unsigned char high = i == 1 ? lead.second_high : 0xBF;
    if (next < low || next > high) return {0, i, false};
    value = (value << 6) | (next & 0x3FU);
  }
  return {value, lead.length, true};
}

std::optional<std::size_t> find_invalid_utf8(std::string_view text) {
  std::size_t at = ascii_run(text, 0);
  while (at < text.size()) {
    const CodePoint point = decode_utf8(text, at);
    if (!point.valid) return at;
    at += point.length;
    if (at < text.size() && static_cast<unsigned char>(text[at]) < 0x80) at += ascii_run(text, at);
  }
  return std::nullopt;
}

std::size_t count_code_points(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); at += decode_utf8(text, at).length) ++count;
  return count;
}

std::string_view cut_to_bytes(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  // A code point has at most three continuation bytes, so its start is near; text that is not
  // UTF-8 is cut where asked.
  for (std::size_t end = max_bytes; end + 4 > max_bytes; --end) {
    if ((static_cast<unsigned char>(text[end]) & 0xC0U) != 0x80) return text.substr(0, end);
    if (end == 0) break;
  }
  return text.substr(0, max_bytes);
}

std::string_view cut_to_code_points(std::string_view text, std::size_t max_code_points) {
  std::size_t at = 0;
  for (std::size_t count = 0; count < max_code_points && at < text.size(); ++count) {
    at += decode_utf8(text, at).length;
  }
  return text.substr(0, at);
}

}  // namespace threadstore::base

namespace threadstore {

std::string to_valid_utf8(std::string_view bytes, std::size_t* replaced) {
  std::string result;
  result.reserve(bytes.size());
  std::size_t count = 0;
  while (!bytes.empty()) {
    const std::size_t valid = base::find_invalid_utf8(bytes).value_or(bytes.size());
    result.append(bytes.substr(0, valid));
    bytes.remove_prefix(valid);
    if (bytes.empty()) break;
    result.append("\xEF\xBF\xBD");
    ++count;
    bytes.remove_prefix(base::decode_utf8(bytes, 0).length);
  }
  if (replaced != nullptr) *replaced = count;
  return result;
}

}  // namespace threadstore
