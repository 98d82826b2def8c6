#include "state/db/row.h"

#include <sqlite3.h>

namespace threadstore::db {

int Row::columns() const { return sqlite3_column_count(statement_); }

bool Row::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

bool Row::is_integer(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_INTEGER;
}

std::int64_t Row::integer(int column) const { return sqlite3_column_int64(statement_, column); }

double Row::real(int column) const { return sqlite3_column_double(statement_, column); }

std::string_view Row::view(int column) const {
  // The pointer first: it may convert the value, and the length is that of the converted one.
  const void* bytes = sqlite3_column_type(statement_, column) == SQLITE_BLOB
                          ? sqlite3_column_blob(statement_, column)
                          : sqlite3_column_text(statement_, column);
  const auto length = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  return bytes == nullptr ? std::string_view()
                          : std::string_view(static_cast<const char*>(bytes), length);
}

}  // namespace threadstore::db
