#include "base/ids.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <system_error>

#include "threadstore/error.h"

namespace threadstore::base {
namespace {

using Uuid = std::array<std::uint8_t, 16>;

Uuid random_bytes() {
  Uuid bytes{};
  // At most 256 bytes come whole or not at all.
  while (::getrandom(bytes.data(), bytes.size(), 0) < 0) {
    if (errno == EINTR) continue;
    throw Error(IoReason::other, "the kernel gave no random numbers for a new id: " +
                                     std::generic_category().message(errno));
  }
  return bytes;
}

/// Time and counter of an id as one number: 48 bits of milliseconds, 12 bits that order the ids of
/// one millisecond. A counter that overflows borrows the next millisecond.
std::uint64_t next_tick(UnixMillis now, std::uint64_t start) {
  static std::mutex mutex;
  static std::uint64_t last = 0;
  const auto millis = static_cast<std::uint64_t>(std::max<UnixMillis>(now, 0)) & 0xFFFFFFFFFFFFU;
  // A random start below the middle leaves at least 2,048 ids before the overflow.
  const std::uint64_t fresh = millis << 12 | (start & 0x7FFU);
  const std::lock_guard lock(mutex);
  last = std::max(last + 1, fresh);
  return last;
}

std::string format(const Uuid& uuid) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(36);
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += digits[uuid[i] >> 4];
    text += digits[uuid[i] & 0xF];
  }
  return text;
}

}  // namespace

std::string make_uuid_v7(UnixMillis now) {
  Uuid uuid = random_bytes();
  const std::uint64_t tick = next_tick(now, std::uint64_t{uuid[6]} << 8 | uuid[7]);
  const std::uint64_t millis = tick >> 12;
  for (std::size_t i = 0; i < 6; ++i) uuid[i] = static_cast<std::uint8_t>(millis >> (40 - 8 * i));
  uuid[6] = static_cast<std::uint8_t>(0x70 | ((tick >> 8) & 0xF));
  uuid[7] = static_cast<std::uint8_t>(tick);
  uuid[8] = static_cast<std::uint8_t>(0x80 | (uuid[8] & 0x3F));
  return format(uuid);
}

}  // namespace threadstore::base
