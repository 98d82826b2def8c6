#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace threadstore::base {

/// The SHA-256 of a file's content, in lower-case hexadecimal, as sha256sum(1) prints it. Throws
/// `io`. Never for a database that is open: see files.h.
std::string sha256_of_file(const std::filesystem::path& file);

/// The same of a text.
std::string sha256_of_text(std::string_view text);

}  // namespace threadstore::base
