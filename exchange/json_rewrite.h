#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace threadstore::exchange {

/// Appends the text as a JSON string, quotes included. Bytes that are not UTF-8 become U+FFFD.
void append_json_string(std::string& out, std::string_view text);

/// Gives a string what it is to be; `name` is the member that holds it, or the array that does.
using StringRewrite = std::function<std::string(std::string_view name, std::string_view value)>;

/// The JSON text in compact form with each string value replaced, in the order of the text; names
/// and numbers stay as they are written. `text` must be valid JSON (base::find_json_fault).
std::string rewrite_json(std::string_view text, const StringRewrite& rewrite);

}  // namespace threadstore::exchange
