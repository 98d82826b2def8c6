#include "state/threads/message_checksum.h"

#include <array>
#include <boost/crc.hpp>

namespace threadstore::state {
namespace {

void add_sized(boost::crc_32_type& crc, std::string_view bytes) {
  std::array<unsigned char, 8> length{};
  std::uint64_t rest = bytes.size();
  for (unsigned char& byte : length) {
    byte = static_cast<unsigned char>(rest & 0xff);
    rest >>= 8;
  }
  crc.process_bytes(length.data(), length.size());
  crc.process_bytes(bytes.data(), bytes.size());
}

}  // namespace

std::uint32_t message_checksum(std::string_view role, std::string_view content,
                               const std::optional<std::string>& item) {
  boost::crc_32_type crc;
  add_sized(crc, role);
  add_sized(crc, content);
  crc.process_byte(item ? 1 : 0);
  if (item) add_sized(crc, *item);
  return crc.checksum();
}

}  // namespace threadstore::state
