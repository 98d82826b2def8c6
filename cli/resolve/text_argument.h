#pragma once

#include <optional>
#include <string>

#include "cli/app/invocation.h"

namespace threadstore::cli {

/// A text as it was given on the command line; `-` reads standard input to its end. Invalid UTF-8
/// is replaced by U+FFFD with a warning that names `what` ("the content").
std::string text_argument(Invocation& call, const std::string& given, const std::string& what);

/// The same for one line, such as a name: a final line break of standard input is dropped.
std::string line_argument(Invocation& call, const std::string& given, const std::string& what);
std::optional<std::string> line_argument(Invocation& call, const std::optional<std::string>& given,
                                         const std::string& what);

/// Everything that a descriptor gives. Throws `io` naming `what` when it cannot be read.
std::string read_all(int descriptor, const std::string& what);

/// Replaces invalid UTF-8, with a warning.
std::string valid_text(Invocation& call, const std::string& bytes, const std::string& what);

}  // namespace threadstore::cli
