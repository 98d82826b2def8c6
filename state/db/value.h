#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "threadstore/enum_names.h"
#include "threadstore/ids.h"

namespace threadstore::db {

struct Blob {
  std::string_view bytes;
};

/// One bound parameter. Text and blobs are not copied: what they point to must live until the
/// statement was run, which holds for arguments written in the call.
class Value {
 public:
  using Storage = std::variant<std::monostate, std::int64_t, double, std::string_view, Blob>;

  // Implicit on purpose: a call lists plain values.
  // NOLINTBEGIN(google-explicit-constructor)
  Value(std::nullopt_t) {}
  Value(std::string_view text) : storage_(text) {}
  Value(const std::string& text) : storage_(std::string_view(text)) {}
  Value(const char* text) : storage_(std::string_view(text)) {}
  Value(Blob blob) : storage_(blob) {}
  Value(double number) : storage_(number) {}
  template <class Tag>
  Value(const TextId<Tag>& id) : storage_(std::string_view(id.str())) {}
  template <class Integer>
  requires std::is_integral_v<Integer> Value(Integer number)
      : storage_(static_cast<std::int64_t>(number)) {}
  /// Integer ids bind as their number, enums with a name table as their word.
  template <class Enum>
  requires std::is_enum_v<Enum> Value(Enum value) {
    if constexpr (std::is_same_v<std::underlying_type_t<Enum>, std::int64_t>) {
      storage_ = static_cast<std::int64_t>(value);
    } else {
      storage_ = to_word(value);
    }
  }
  template <class T>
  Value(const std::optional<T>& value) {
    if (value) storage_ = Value(*value).storage_;
  }
  // NOLINTEND(google-explicit-constructor)

  const Storage& storage() const noexcept { return storage_; }

 private:
  Storage storage_;
};

using Values = std::initializer_list<Value>;

}  // namespace threadstore::db
