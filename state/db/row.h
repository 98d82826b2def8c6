#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "threadstore/ids.h"

struct sqlite3_stmt;

namespace threadstore::db {

/// The current row of a running statement. Valid only inside the reader that got it. Text is read
/// with its explicit length, so NUL characters survive. A column of another storage class than
/// asked reads as SQLite converts it: rows of other programs never make a reader throw.
class Row {
 public:
  explicit Row(sqlite3_stmt* statement) : statement_(statement) {}

  int columns() const;
  bool is_null(int column) const;
  bool is_integer(int column) const;
  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const { return std::string(view(column)); }
  /// Valid until the next row.
  std::string_view view(int column) const;

  /// Typed reading: integers, bool, double, std::string, text ids, integer ids, and
  /// std::optional of each (null reads as absent).
  template <class T>
  T get(int column) const {
    return read(column, static_cast<T*>(nullptr));
  }

 private:
  template <class T>
  T read(int column, T*) const {
    if constexpr (std::is_same_v<T, bool>) {
      return integer(column) != 0;
    } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
      return static_cast<T>(integer(column));
    } else if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(real(column));
    } else {
      return T(text(column));
    }
  }
  template <class T>
  std::optional<T> read(int column, std::optional<T>*) const {
    if (is_null(column)) return std::nullopt;
    return get<T>(column);
  }

  sqlite3_stmt* statement_;
};

}  // namespace threadstore::db
