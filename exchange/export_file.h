#pragma once

#include <filesystem>
#include <memory>
#include <ostream>
#include <string>

namespace threadstore::exchange {

/// A file that appears whole or not at all: written beside its place under another name (0600),
/// synced, and given its name by `commit`. Without that nothing stays. Not thread-safe.
class NewFile {
 public:
  /// Throws `io` naming the file when the directory is missing or refuses.
  explicit NewFile(std::filesystem::path file);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  std::ostream& stream() noexcept;

  /// Throws `conflict` when the name was taken meanwhile and is not to be replaced.
  void commit(bool replace);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Eight hexadecimal digits that differ for different texts.
std::string short_hash(const std::string& text);

}  // namespace threadstore::exchange
