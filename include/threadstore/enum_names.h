#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace threadstore {

/// The words of an enum, in declaration order: one table drives SQL, JSON and the command line.
/// Specialised (as an array of pairs) under each enum's declaration.
template <class Enum>
struct EnumNames;

/// The lower-case snake_case word of a value.
template <class Enum>
constexpr std::string_view to_word(Enum value) {
  for (const auto& [candidate, word] : EnumNames<Enum>::table) {
    if (candidate == value) return word;
  }
  return "unknown";
}

/// The value of a word; nothing when the word is not in the table.
template <class Enum>
constexpr std::optional<Enum> from_word(std::string_view word) {
  for (const auto& [value, candidate] : EnumNames<Enum>::table) {
    if (candidate == word) return value;
  }
  return std::nullopt;
}

}  // namespace threadstore
