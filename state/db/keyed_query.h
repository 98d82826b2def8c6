#pragma once

#include <cstdint>
#include <string_view>

#include "state/db/connection.h"
#include "state/db/session.h"

namespace threadstore::db {

/// A query with one integer parameter that is asked many times within one transaction: its
/// statement is looked up once, and reset at the end of the scope. Not thread-safe.
class KeyedQuery {
 public:
  KeyedQuery(Session& session, std::string_view sql) : running_(session.connection(), sql, {}) {}

  /// Asks for `key`; false when the answer has no row.
  bool ask(std::int64_t key) {
    running_.rewind(key);
    return running_.step();
  }
  /// The next row of an answer that had one so far; false past the last.
  bool next() { return running_.step(); }

  /// Valid until the query is asked again or goes on.
  Row row() const { return Row(running_.statement()); }

 private:
  Connection::Running running_;
};

}  // namespace threadstore::db
