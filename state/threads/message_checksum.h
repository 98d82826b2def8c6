#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace threadstore::state {

/// CRC-32 (the polynomial of zlib) over what a person would miss of a message: role, content and
/// item. Each is preceded by its length as 8 bytes, lowest first, so that moving a byte from one to
/// the next shows; before the item stands one byte, 1 when there is one, else 0.
std::uint32_t message_checksum(std::string_view role, std::string_view content,
                               const std::optional<std::string>& item);

}  // namespace threadstore::state
