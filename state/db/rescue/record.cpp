#include "state/db/rescue/record.h"

#include <cstring>

#include "state/db/rescue/byte_reader.h"

namespace threadstore::db {
namespace {

std::int64_t signed_number(ByteReader& in, std::size_t size) {
  const std::size_t unused = 64 - 8 * size;
  return static_cast<std::int64_t>(in.number(size) << unused) >> unused;
}

/// The field of that serial type; nothing for a type that SQLite does not write.
std::optional<Value> read_field(ByteReader& in, std::uint64_t type) {
  switch (type) {
    case 0:
      return Value(std::nullopt);
    case 1:
    case 2:
    case 3:
    case 4:
      return Value(signed_number(in, type));
    case 5:
      return Value(signed_number(in, 6));
    case 6:
      return Value(signed_number(in, 8));
    case 7: {
      const std::uint64_t bits = in.number(8);
      double number = 0;
      std::memcpy(&number, &bits, sizeof number);
      return Value(number);
    }
    case 8:
    case 9:
      return Value(type == 9 ? 1 : 0);
    case 10:
    case 11:
      return std::nullopt;
    default: {
      const std::string_view bytes = in.take((type - 12) / 2);
      return type % 2 == 0 ? Value(Blob{bytes}) : Value(bytes);
    }
  }
}

}  // namespace

std::optional<std::vector<Value>> read_record(std::string_view bytes) {
  ByteReader header(bytes);
  const std::uint64_t header_size = header.varint();
  if (!header.ok() || header_size > bytes.size()) return std::nullopt;
  ByteReader body(bytes, header_size);
  std::vector<Value> fields;
  while (header.position() < header_size) {
    const auto field = read_field(body, header.varint());
    if (!field || !header.ok() || !body.ok()) return std::nullopt;
    fields.push_back(*field);
  }
  const bool exact = header.position() == header_size && body.position() == bytes.size();
  return exact ? std::optional(std::move(fields)) : std::nullopt;
}

}  // namespace threadstore::db
