#include "state/threads/message_checksum.h"

#include <gtest/gtest.h>

#include <boost/crc.hpp>
#include <random>

namespace threadstore::state {
namespace {

/// The definition, byte by byte.
std::uint32_t reference(const std::string& role, const std::string& content,
                        const std::optional<std::string>& item) {
  std::string bytes;
  const auto add = [&](const std::string& part) {
    for (std::size_t i = 0; i < 8; ++i) bytes += static_cast<char>(part.size() >> 8 * i & 0xff);
    bytes += part;
  };
  add(role);
  add(content);
  bytes += static_cast<char>(item ? 1 : 0);
  if (item) add(*item);
  boost::crc_32_type crc;
  crc.process_bytes(bytes.data(), bytes.size());
  return crc.checksum();
}

TEST(MessageChecksumTest, IsTheCrc32OfZlib) {
  // crc32(b'\1' + 7*b'\0' + b'u' + b'\2' + 7*b'\0' + b'hi' + b'\0') of zlib.
  EXPECT_EQ(message_checksum("u", "hi", {}), 0x7ccca598u);
}

TEST(MessageChecksumTest, AgreesWithTheDefinitionAtEveryLength) {
  std::mt19937 random(7);
  std::string content;
  for (int length = 0; length < 700; ++length) {
    ASSERT_EQ(message_checksum("role", content, content), reference("role", content, content))
        << "length " << length;
    content += static_cast<char>(random() & 0xff);
  }
}

TEST(MessageChecksumTest, TellsWhereOnePartEndsAndWhetherThereIsAnItem) {
  EXPECT_NE(message_checksum("ab", "c", {}), message_checksum("a", "bc", {}));
  EXPECT_NE(message_checksum("a", "b", {}), message_checksum("a", "b", ""));
}

TEST(MessageChecksumTest, ChangesWithEveryBit) {
  std::string content(1024, 'x');
  const std::uint32_t whole = message_checksum("user", content, {});
  for (std::size_t bit = 0; bit < content.size() * 8; bit += 7) {
    content[bit / 8] = static_cast<char>(content[bit / 8] ^ (1 << bit % 8));
    ASSERT_NE(message_checksum("user", content, {}), whole);
    content[bit / 8] = static_cast<char>(content[bit / 8] ^ (1 << bit % 8));
  }
}

}  // namespace
}  // namespace threadstore::state
