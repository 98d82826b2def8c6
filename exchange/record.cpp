#include "exchange/record.h"

#include <algorithm>
#include <cctype>

#include "base/sha256.h"
#include "exchange/foreign_ids.h"

namespace threadstore::exchange {
namespace {

constexpr std::size_t kLongestKey = 200;

}  // namespace

ThreadId thread_id_of(const std::string& source, const std::string& source_id) {
  if (!is_uuid(source_id)) {
    return ThreadId(uuid_of_text(source + '\0' + source_id));
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
