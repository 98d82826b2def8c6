#include "base/sha256.h"

#include <fcntl.h>
#include <openssl/evp.h>

#include <array>
#include <cerrno>
#include <memory>

#include "base/files.h"
#include "threadstore/error.h"

namespace threadstore::base {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;

void require(int success) {
  if (success != 1) throw Error(IoReason::other, "cannot compute a SHA-256: libcrypto refuses");
}

/// One computation of a hash.
class Digest {
 public:
  Digest() { require(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr)); }

  void add(std::string_view bytes) {
    require(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()));
  }

  std::string hex() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
    unsigned size = 0;
    require(EVP_DigestFinal_ex(context_.get(), bytes.data(), &size));
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (unsigned i = 0; i < size; ++i) {
      text += digits[bytes[i] >> 4U];
      text += digits[bytes[i] & 15U];
    }
    return text;
  }

 private:
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context_{EVP_MD_CTX_new(),
                                                                    EVP_MD_CTX_free};
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
