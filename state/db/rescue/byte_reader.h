#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace threadstore::db {

/// Reads forward through bytes of a SQLite file that may be damaged. Past their end everything
/// reads as 0 and nothing, and `ok` is false from then on. The bytes must outlive it.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes, std::size_t at = 0)
      : bytes_(bytes), at_(at), ok_(at <= bytes.size()) {}

  bool ok() const noexcept { return ok_; }
  std::size_t position() const noexcept { return at_; }

  std::string_view take(std::size_t size) {
    if (!ok_ || size > bytes_.size() - at_) {
      ok_ = false;
      return {};
    }
    const std::string_view taken = bytes_.substr(at_, size);
    at_ += size;
    return taken;
  }

  /// Of at most eight bytes, the highest first.
  std::uint64_t number(std::size_t size) {
    std::uint64_t value = 0;
    for (const char byte : take(size)) value = value << 8 | static_cast<unsigned char>(byte);
    return value;
  }

  /// Seven bits a byte as long as the eighth is set; a ninth byte counts whole.
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int count = 1; count <= 9; ++count) {
      const std::uint64_t byte = number(1);
      if (!ok_) return 0;
      if (count == 9) return value << 8 | byte;
      value = value << 7 | (byte & 0x7f);
      if (byte < 0x80) break;
    }
    return value;
  }

 private:
  std::string_view bytes_;
  std::size_t at_;
  bool ok_;
};

}  // namespace threadstore::db
