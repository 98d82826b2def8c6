#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/app/syntax.h"
#include "threadstore/enum_names.h"

namespace threadstore::cli {

/// Accepts these words only, and lists them in the help.
inline ValueCheck one_of(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ",") + word;
  const auto check = [words, list](const std::string& given) {
    for (const std::string& word : words) {
      if (word == given) return std::string();
    }
    return "'" + given + "' is none of " + list;
  };
  return {.fault = check, .description = "{" + list + "}"};
}

/// The same for the words of an enum.
template <class Enum>
ValueCheck one_of() {
  std::vector<std::string> words;
  for (const auto& [value, word] : EnumNames<Enum>::table) words.emplace_back(word);
  return one_of(words);
}

/// Accepts whole numbers from `least` to `most`.
inline ValueCheck whole_number(std::int64_t least, std::int64_t most) {
  const auto check = [least, most](const std::string& given) {
    std::int64_t number = 0;
    const auto end = given.data() + given.size();
    const auto read = std::from_chars(given.data(), end, number);
    const bool good = read.ec == std::errc() && read.ptr == end;
    if (good && number >= least && number <= most) return std::string();
    return "'" + given + "' is not a whole number from " + std::to_string(least) + " to " +
           std::to_string(most);
  };
  return {.fault = check, .description = ""};
}

}  // namespace threadstore::cli
