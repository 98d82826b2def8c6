#include "state/db/rescue/wal_frames.h"

#include <string>
#include <string_view>

#include "state/db/rescue/byte_reader.h"

namespace threadstore::db {
namespace {

constexpr std::uint32_t kMagic = 0x377f0682;  // the last bit: checksums of big-endian words
constexpr std::size_t kHeader = 32;
constexpr std::size_t kFrameHeader = 24;

/// Runs from the header through every frame: a frame fits only behind those before it.
class Checksum {
 public:
  explicit Checksum(bool big_endian) : big_endian_(big_endian) {}

  void add(std::string_view bytes) {
    for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
      first_ += word(bytes, at) + second_;
      second_ += word(bytes, at + 4) + first_;
    }
  }
  bool is(std::uint64_t stored) const { return stored == (std::uint64_t{first_} << 32 | second_); }

 private:
  std::uint32_t word(std::string_view bytes, std::size_t at) const {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      value = value << 8 | static_cast<unsigned char>(bytes[at + (big_endian_ ? i : 3 - i)]);
    }
    return value;
  }

  bool big_endian_;
  std::uint32_t first_ = 0;
  std::uint32_t second_ = 0;
};

}  // namespace

WalFrames read_wal(const base::File& wal) {
  const std::string header = wal.read_at(0, kHeader);
  ByteReader in(header);
  const auto magic = static_cast<std::uint32_t>(in.number(4));
  in.take(4);
  const auto page_size = static_cast<std::uint32_t>(in.number(4));
  in.take(4);
  const std::uint64_t salt = in.number(8);
  const std::uint64_t stored = in.number(8);
  Checksum checksum((magic & 1U) != 0);
  checksum.add(std::string_view(header).substr(0, kFrameHeader));
  if (!in.ok() || (magic & ~1U) != kMagic || !checksum.is(stored) || page_size < 512 ||
      page_size > 65536) {
    return {};
  }

  WalFrames frames;
  WalFrames uncommitted;
  for (auto at = std::int64_t{kHeader};;) {
    const std::string frame = wal.read_at(at, kFrameHeader + page_size);
    if (frame.size() < kFrameHeader + page_size) return frames;
    ByteReader fields(frame);
    const auto page = static_cast<std::uint32_t>(fields.number(4));
    const auto count_after_commit = static_cast<std::uint32_t>(fields.number(4));
    const bool of_this_log = fields.number(8) == salt;
    checksum.add(std::string_view(frame).substr(0, 8));
    checksum.add(std::string_view(frame).substr(kFrameHeader));
    if (!of_this_log || page == 0 || !checksum.is(fields.number(8))) return frames;
    uncommitted.at[page] = at + std::int64_t{kFrameHeader};
    if (count_after_commit > 0) {
      frames.page_size = page_size;
      frames.page_count = count_after_commit;
      for (const auto& [number, place] : uncommitted.at) frames.at[number] = place;
      uncommitted.at.clear();
    }
    at += std::int64_t{kFrameHeader} + page_size;
  }
}

}  // namespace threadstore::db
