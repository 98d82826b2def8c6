#pragma once

#include <string>
#include <string_view>

namespace threadstore::exchange {

bool is_uuid(std::string_view text);

/// A UUID (version 8, RFC 9562: the maker's own scheme) that is always the same for the text.
std::string uuid_of_text(const std::string& text);

/// The id itself when it is a UUID, else one that is always the same for it: for programs that take
/// nothing else.
std::string uuid_for(const std::string& id);

}  // namespace threadstore::exchange
