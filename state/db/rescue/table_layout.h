#pragma once

#include <optional>
#include <string>
#include <vector>

#include "state/db/session.h"

namespace threadstore::db {

struct Column {
  enum class Class { number, text, any };  ///< what its declared type makes SQLite store

  std::string name{};
  Class stores = Class::any;
  bool needed = false;  ///< a row is not without it: not null, and no default
  bool not_null = false;
  bool is_row_number =
      false;  ///< INTEGER PRIMARY KEY: stored as null, its value is the row's number
};

/// The columns of a table in the order in which its rows hold them.
using TableLayout = std::vector<Column>;

/// Of a table of the session's database; empty when it has none of that name.
TableLayout layout_of(Session& session, const std::string& table);

/// As its CREATE TABLE statement says; nothing when that is damaged. The statement is read by
/// SQLite in a database of its own, where it can do nothing.
std::optional<TableLayout> parse_layout(const std::string& table, const std::string& create);

/// Whether the fields can be a row of the table at all, of any program that wrote it.
bool may_be_row(const TableLayout& layout, const std::vector<Value>& fields);

/// Whether they are what the columns' types say: tells pages of different tables apart.
bool looks_like_row(const TableLayout& layout, const std::vector<Value>& fields);

}  // namespace threadstore::db
