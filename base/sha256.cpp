#include "base/sha256.h"

#include <fcntl.h>
#include <sha2.h>

#include <array>
#include <cerrno>

#include "base/files.h"

namespace threadstore::base {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;

/// One computation of a hash.
class Digest {
 public:
  Digest() { ::SHA256Init(&context_); }

  void add(std::string_view bytes) {
    ::SHA256Update(&context_, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }

  std::string hex() {
    std::array<char, SHA256_DIGEST_STRING_LENGTH> text{};
    ::SHA256End(&context_, text.data());
    return text.data();
  }

 private:
  ::SHA2_CTX context_{};
};

}  // namespace

std::string sha256_of_file(const std::filesystem::path& file) {
  const auto opened = File::open(file, O_RDONLY);
  if (!opened) throw_io("read", file, ENOENT);
  Digest digest;
  std::int64_t offset = 0;
  for (std::string piece; !(piece = opened->read_at(offset, kPiece)).empty();) {
    digest.add(piece);
    offset += static_cast<std::int64_t>(piece.size());
  }
  return digest.hex();
}

std::string sha256_of_text(std::string_view text) {
  Digest digest;
  digest.add(text);
  return digest.hex();
}

}  // namespace threadstore::base
