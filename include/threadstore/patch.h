#pragma once

#include <optional>
#include <type_traits>
#include <utility>

namespace threadstore {

/// Says that a nullable column is to become null.
struct Clear {};
inline constexpr Clear clear{};

/// One nullable field of an update: absent (default) keeps what is stored, `clear` makes it null, a
/// value replaces it. For columns that are never null, updates use `std::optional` instead.
template <class T>
class Patch {
 public:
  Patch() = default;
  // Implicit on purpose: `{.name = "x", .path = clear}`.
  // NOLINTBEGIN(google-explicit-constructor)
  Patch(Clear) : change_(true) {}
  template <class Value>
  requires std::is_convertible_v<Value, T> Patch(Value value)
      : change_(true), value_(std::move(value)) {}
  // NOLINTEND(google-explicit-constructor)

  /// False: keep what is stored.
  bool changes() const noexcept { return change_; }
  /// The new value; absent means null. Only meaningful when `changes()`.
  const std::optional<T>& value() const noexcept { return value_; }

 private:
  bool change_ = false;
  std::optional<T> value_;
};

}  // namespace threadstore
