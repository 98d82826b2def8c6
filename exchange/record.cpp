#include "exchange/record.h"

#include <algorithm>
#include <cctype>

#include "base/sha256.h"

namespace threadstore::exchange {
namespace {

constexpr std::size_t kLongestKey = 200;

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

/// The bits of a UUID version 8 (RFC 9562: the maker's own scheme): the first of the hash.
std::string uuid_of(std::string hash) {
  hash[12] = '8';
  hash[16] = "89ab"[static_cast<unsigned>(hash[16]) % 4U];
  return hash.substr(0, 8) + "-" + hash.substr(8, 4) + "-" + hash.substr(12, 4) + "-" +
         hash.substr(16, 4) + "-" + hash.substr(20, 12);
}

}  // namespace

ThreadId thread_id_of(const std::string& source, const std::string& source_id) {
  if (!is_uuid(source_id)) {
    return ThreadId(uuid_of(base::sha256_of_text(source + '\0' + source_id)));
  }
  std::string id = source_id;
  std::transform(id.begin(), id.end(), id.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ThreadId(id);
}

std::string message_key(const std::string& source, const std::string& id) {
  const std::string key = source + ":" + id;
  return key.size() <= kLongestKey ? key : source + ":#" + base::sha256_of_text(id);
}

}  // namespace threadstore::exchange
