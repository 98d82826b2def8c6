#include "exchange/native_keys.h"

#include <algorithm>
#include <charconv>

#include "base/sha256.h"
#include "exchange/native_format.h"

namespace threadstore::exchange {
namespace {

const std::string kPrefix = std::string(native_type) + ":";

}  // namespace

std::string NativeKeys::add(JsonText line) {
  const std::int64_t id = line["id"].integer().value_or(0);
  std::string key = line["key"].string();
  if (!key.starts_with(kPrefix)) {
    const std::string said = line["role"].string() + '\0' + std::string(line["created_at"].raw()) +
                             '\0' + line["content"].string();
    key = kPrefix + std::to_string(id) + '-' + base::sha256_of_text(said).substr(0, 8);
  }
  const auto place = lower_bound(id);
  if (place == keys_.end() || place->first != id) {
    keys_.insert(place, {id, key.substr(kPrefix.size())});
  }
  return key;
}

std::optional<std::string> NativeKeys::find(std::int64_t id) {
  const auto place = lower_bound(id);
  if (place == keys_.end() || place->first != id) return std::nullopt;
  return kPrefix + place->second;
}

std::optional<MessageId> NativeKeys::first_id(const std::string& key) {
  std::int64_t id = 0;
  const auto read = std::from_chars(key.data() + kPrefix.size(), key.data() + key.size(), id);
  return read.ec == std::errc() ? std::optional(MessageId{id}) : std::nullopt;
}

std::vector<std::pair<std::int64_t, std::string>>::iterator NativeKeys::lower_bound(
    std::int64_t id) {
  if (keys_.empty() || keys_.back().first < id) return keys_.end();
  return std::lower_bound(
      keys_.begin(), keys_.end(), id,
      [](const auto& entry, std::int64_t wanted) { return entry.first < wanted; });
}

}  // namespace threadstore::exchange
