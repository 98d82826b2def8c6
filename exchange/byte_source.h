#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace threadstore::exchange {

/// The bytes of a file from its beginning, decompressed when it is zstd (told by its content). In
/// pieces: memory does not depend on the file's size. Not thread-safe.
class ByteSource {
 public:
  /// Throws `io` (not_found for a missing file), naming it.
  explicit ByteSource(const std::filesystem::path& file);
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// Replaces `piece` by the next bytes; false at the end. Throws `damaged` where the compressed
  /// stream is broken; what was before has been given out.
  bool next(std::string& piece);

  /// How many bytes of the file, as it lies, were used up.
  std::int64_t consumed() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace threadstore::exchange
