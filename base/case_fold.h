#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace threadstore::base {

/// The text in a form that is equal for texts which differ only in case. ASCII exactly; beyond
/// ASCII the simple foldings of Unicode, one code point to one ("É" = "é", "Σ" = "ς" = "σ"; not
/// "ß" = "SS"), as far as the C library's tables go. Bytes that are not UTF-8 stay as they are.
/// Independent of the process's locale.
std::string fold_case(std::string_view text);

/// A hash that is equal for texts whose folded forms are equal.
std::uint32_t hash_folded(std::string_view text);

}  // namespace threadstore::base
