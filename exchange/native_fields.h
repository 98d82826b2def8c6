#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "exchange/json_text.h"
#include "threadstore/enum_names.h"
#include "threadstore/ids.h"

/// Members of a line of our own format; what is missing or of another kind is absent, empty or 0.
namespace threadstore::exchange::native_fields {

inline std::optional<std::string> text(JsonText line, const char* name) {
  return line[name].string_or_none();
}

inline std::string text_or_empty(JsonText line, const char* name) { return line[name].string(); }

inline std::int64_t number(JsonText line, const char* name) {
  return line[name].integer().value_or(0);
}

inline std::optional<std::int64_t> number_or_none(JsonText line, const char* name) {
  return line[name].integer();
}

inline std::optional<MessageId> message_id(JsonText line, const char* name) {
  const auto id = line[name].integer();
  return id ? std::optional(MessageId{*id}) : std::nullopt;
}

template <class Id>
std::optional<Id> id_or_none(JsonText line, const char* name) {
  const auto id = line[name].string_or_none();
  return id ? std::optional(Id(*id)) : std::nullopt;
}

template <class Enum>
Enum word(JsonText line, const char* name, Enum otherwise) {
  return from_word<Enum>(line[name].string()).value_or(otherwise);
}

template <class Enum>
std::optional<Enum> word_or_none(JsonText line, const char* name) {
  const auto given = line[name].string_or_none();
  return given ? from_word<Enum>(*given) : std::nullopt;
}

}  // namespace threadstore::exchange::native_fields
