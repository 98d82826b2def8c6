#include "exchange/html_text.h"

#include <cstdint>

#include "base/sha256.h"
#include "exchange/readable_text.h"

namespace threadstore::exchange {
namespace {

unsigned hex_value(char c) { return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10); }

std::string base64(std::string_view bytes) {
  constexpr std::string_view alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::string_view group = bytes.substr(at, 3);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      bits = bits << 8U | (i < group.size() ? static_cast<unsigned char>(group[i]) : 0U);
    }
    for (unsigned i = 0; i < 4; ++i) {
      out += i <= group.size() ? alphabet[bits >> (18U - 6U * i) & 63U] : '=';
    }
  }
  return out;
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : visible(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string policy_hash(std::string_view text) {
  const std::string hex = base::sha256_of_text(text);
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(hex_value(hex[i]) << 4U | hex_value(hex[i + 1]));
  }
  return "sha256-" + base64(bytes);
}

}  // namespace threadstore::exchange
