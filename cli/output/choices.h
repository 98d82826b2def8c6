#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "threadstore/enum_names.h"

namespace threadstore::cli {

/// Accepts the words of an enum only, and lists them in the help.
template <class Enum>
CLI::Validator one_of() {
  std::vector<std::string> words;
  for (const auto& [value, word] : EnumNames<Enum>::table) words.emplace_back(word);
  return CLI::IsMember(words);
}

}  // namespace threadstore::cli
