#include "exchange/foreign_ids.h"

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

std::string uuid_of_text(const std::string& text) {
  std::string hash = base::sha256_of_text(text);
  hash[12] = '8';
  hash[16] = "89ab"[static_cast<unsigned>(hash[16]) % 4U];
  return hash.substr(0, 8) + "-" + hash.substr(8, 4) + "-" + hash.substr(12, 4) + "-" +
         hash.substr(16, 4) + "-" + hash.substr(20, 12);
}

std::string uuid_for(const std::string& id) {
  return is_uuid(id) ? id : uuid_of_text("threadstore thread " + id);
}

}  // namespace threadstore::exchange
