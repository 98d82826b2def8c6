#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exchange/json_text.h"
#include "threadstore/ids.h"

namespace threadstore::exchange {

/// What a message of a file is known by from import to import: its number in the store that it came
/// from first, and a mark of what it says, so that the numbers of two stores are not confused.
class NativeKeys {
 public:
  /// The key of the message that the line is. Lines come in about the order of ids.
  std::string add(JsonText line);
  std::optional<std::string> find(std::int64_t id);

  /// The number that the message had where it came from first.
  static std::optional<MessageId> first_id(const std::string& key);

 private:
  std::vector<std::pair<std::int64_t, std::string>>::iterator lower_bound(std::int64_t id);

  std::vector<std::pair<std::int64_t, std::string>> keys_;
};

}  // namespace threadstore::exchange
