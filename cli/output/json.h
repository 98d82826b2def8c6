#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>

#include "threadstore/ids.h"

namespace threadstore::cli {

/// Documents keep the order in which their keys were written.
using Json = nlohmann::ordered_json;

/// A value that is printed as the given JSON text, byte for byte but for line breaks between its
/// tokens: parsing and printing would break long numbers. The text must be valid JSON.
Json embedded(const std::string& json_text);

/// Writes a document on one line. Bytes that are not UTF-8 (rows of other programs) are replaced.
void write_json(std::ostream& out, const Json& document);

/// Absent values are null, never left out.
template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}
template <class Tag>
Json or_null(const std::optional<TextId<Tag>>& id) {
  return id ? Json(id->str()) : Json(nullptr);
}
inline Json or_null(const std::optional<MessageId>& id) {
  return id ? Json(to_int(*id)) : Json(nullptr);
}

}  // namespace threadstore::cli
