#include "exchange/foreign_ids.h"

#include <algorithm>
#include <cctype>

#include "base/sha256.h"

namespace threadstore::exchange {

bool is_uuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : std::isxdigit(static_cast<unsigned char>(text[i])) == 0) {
      return false;
    }
  }
  return true;
}

namespace {

/// Of 32 hexadecimal digits.
std::string with_dashes(const std::string& hex) {
  return hex.substr(0, 8) + '-' + hex.substr(8, 4) + '-' + hex.substr(12, 4) + '-' +
         hex.substr(16, 4) + '-' + hex.substr(20, 12);
}

/// The lowest bits of a number, as so many hexadecimal digits.
std::string hex_digits(std::uint64_t number, std::size_t digits) {
  std::string text(digits, '0');
  for (auto digit = text.rbegin(); digit != text.rend(); ++digit, number >>= 4U) {
    *digit = "0123456789abcdef"[number & 0xFU];
  }
  return text;
}

}  // namespace

std::string uuid_of_text(const std::string& text) {
  std::string hash = base::sha256_of_text(text);
  hash[12] = '8';
  hash[16] = "89ab"[static_cast<unsigned>(hash[16]) % 4U];
  return with_dashes(hash);
}

std::string uuid_for(const std::string& id) {
  return is_uuid(id) ? id : uuid_of_text("threadstore thread " + id);
}

std::string run_uuid(const std::string& source, std::int64_t number, UnixMillis started_at) {
  const auto count = static_cast<std::uint64_t>(number);
  const std::string mark =
      base::sha256_of_text("threadstore run " + source + ' ' + std::to_string(number));
  // Behind the time the number, so that it orders, then what tells sources apart.
  return with_dashes(
      hex_digits(static_cast<std::uint64_t>(std::max<UnixMillis>(0, started_at)), 12) + '7' +
      hex_digits(count >> 12U, 3) + 'a' + hex_digits(count, 3) + mark.substr(0, 12));
}

}  // namespace threadstore::exchange
