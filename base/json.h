#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "threadstore/error.h"

namespace threadstore::base {

/// The deepest nesting that is taken in: readers of other programs recurse.
inline constexpr std::size_t max_json_depth = 200;

struct JsonFault {
  std::size_t offset = 0;  ///< byte offset of what is wrong
  std::string reason;      ///< "expected a comma or the end of the array"
};

/// Checks one JSON value (RFC 8259) with white space around it: grammar, valid UTF-8, paired
/// surrogate escapes, numbers that fit a double's range, depth at most `max_json_depth`. Does not
/// recurse, allocate or convert, so that the text may be large and is kept as given.
std::optional<JsonFault> find_json_fault(std::string_view text);

/// Throws `code`, naming `what`, the reason and the offset, when the text is not valid as above.
void check_json(std::string_view text, const std::string& what,
                ErrorCode code = ErrorCode::invalid_argument);

/// The parsed value; throws like `check_json`.
nlohmann::json parse_json(std::string_view text, const std::string& what,
                          ErrorCode code = ErrorCode::damaged);

}  // namespace threadstore::base
