#pragma once

#include <filesystem>

namespace threadstore::base {

// What changes names of files, not their content, so also a database's. A change is durable after
// `sync_directory` only.

/// Gives the file another name, replacing what has it, at once. Throws `io`.
void rename_file(const std::filesystem::path& from, const std::filesystem::path& to);

/// The same, but false when the name is taken; on file systems without such a call after a look.
bool rename_to_free_name(const std::filesystem::path& from, const std::filesystem::path& to);

/// A second name for the file; false where the file system has none, or the name is taken.
bool add_name(const std::filesystem::path& file, const std::filesystem::path& name);

/// Whether the name was there and is gone.
bool remove_name(const std::filesystem::path& name);

}  // namespace threadstore::base
