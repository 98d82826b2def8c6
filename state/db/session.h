#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "state/db/row.h"
#include "state/db/value.h"

namespace threadstore::db {

class Connection;

/// One connection inside a transaction, as `Database::read` and `Database::write` hand it out.
/// Statements are prepared once per connection and reset on every path; none stays open after a
/// call. Not thread-safe: it belongs to the thread that runs the transaction.
class Session {
 public:
  explicit Session(Connection& connection) : connection_(connection) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Runs a statement to its end; returns the number of rows that it changed.
  std::int64_t run(std::string_view sql, Values values = {});

  /// Runs an INSERT; returns the integer key of the new row.
  std::int64_t insert(std::string_view sql, Values values = {});

  /// Runs several statements separated by semicolons, uncached: schema text.
  void script(std::string_view sql);

  /// Calls `visit(row)` for each row; a visitor that returns bool stops the query with false.
  template <class Visit>
  void each(std::string_view sql, Values values, Visit&& visit) {
    query(sql, values, [&](const Row& row) {
      if constexpr (std::is_same_v<decltype(visit(row)), bool>) {
        return visit(row);
      } else {
        visit(row);
        return true;
      }
    });
  }

  /// The first row as `read` makes it; nothing when there is none.
  template <class Read>
  auto one(std::string_view sql, Values values, Read&& read) {
    std::optional<std::decay_t<decltype(read(std::declval<const Row&>()))>> result;
    query(sql, values, [&](const Row& row) {
      result.emplace(read(row));
      return false;
    });
    return result;
  }

  template <class Read>
  auto all(std::string_view sql, Values values, Read&& read) {
    std::vector<std::decay_t<decltype(read(std::declval<const Row&>()))>> result;
    query(sql, values, [&](const Row& row) {
      result.push_back(read(row));
      return true;
    });
    return result;
  }

  /// The first column of the first row, as T; nothing when there is no row.
  template <class T>
  std::optional<T> value(std::string_view sql, Values values = {}) {
    return one(sql, values, [](const Row& row) { return row.get<T>(0); });
  }

  bool exists(std::string_view sql, Values values = {}) {
    return one(sql, values, [](const Row&) { return true; }).has_value();
  }

  /// True when SQLite gave the transaction up by itself after a failure.
  bool rolled_back() const noexcept;

  Connection& connection() noexcept { return connection_; }

 private:
  void query(std::string_view sql, Values values, const std::function<bool(const Row&)>& visit);

  Connection& connection_;
};

}  // namespace threadstore::db
