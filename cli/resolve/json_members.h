#pragma once

#include <string>
#include <utility>
#include <vector>

namespace threadstore::cli {

/// The members of a JSON object in order: the name, and the value's text as it stands there, so
/// that nothing is lost of numbers or key order. Throws `invalid_argument` saying what is wrong
/// when the text is not one JSON object.
std::vector<std::pair<std::string, std::string>> json_members(const std::string& text);

/// The string that a member's text stands for; `name` is for the message when it is none.
std::string json_string(const std::string& name, const std::string& value);

}  // namespace threadstore::cli
