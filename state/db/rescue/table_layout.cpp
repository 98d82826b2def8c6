#include "state/db/rescue/table_layout.h"

#include <sqlite3.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "state/db/connection.h"
#include "threadstore/error.h"

namespace threadstore::db {
namespace {

/// The class of a declared type, by SQLite's rules of affinity.
Column::Class class_of(std::string type) {
  for (char& letter : type) {
    letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  }
  const auto has = [&](std::string_view word) { return type.find(word) != std::string::npos; };
  if (has("INT")) return Column::Class::number;
  if (has("CHAR") || has("CLOB") || has("TEXT")) return Column::Class::text;
  if (type.empty() || has("BLOB")) return Column::Class::any;
  return Column::Class::number;
}

bool is_null(const Value& value) { return std::holds_alternative<std::monostate>(value.storage()); }

bool is_of(Column::Class wanted, const Value& value) {
  const bool text = std::holds_alternative<std::string_view>(value.storage());
  const bool bytes = std::holds_alternative<Blob>(value.storage());
  switch (wanted) {
    case Column::Class::text:
      return text;
    case Column::Class::number:
      return !text && !bytes;
    case Column::Class::any:
      break;
  }
  return true;
}

}  // namespace

TableLayout layout_of(Session& session, const std::string& table) {
  TableLayout layout = session.all(
      R"sql(SELECT name, type, "notnull", dflt_value IS NOT NULL, pk
            FROM pragma_table_info(?) ORDER BY cid)sql",
      {table}, [](const Row& row) {
        const bool not_null = row.integer(2) != 0;
        std::string type = row.text(1);
        return Column{.name = row.text(0),
                      .stores = class_of(type),
                      .needed = not_null && row.integer(3) == 0,
                      .not_null = not_null,
                      .is_row_number = row.integer(4) != 0 && type == "INTEGER"};
      });
  const auto keys = session.value<std::int64_t>(
      "SELECT count(*) FROM pragma_table_info(?) WHERE pk > 0", {table});
  if (keys != 1) {
    for (Column& column : layout) column.is_row_number = false;
  }
  return layout;
}

std::optional<TableLayout> parse_layout(const std::string& table, const std::string& create) {
  // One statement of this kind creates a table in memory, whatever else its text says; a query in
  // it is stopped.
  if (!create.starts_with("CREATE TABLE ")) return std::nullopt;
  constexpr int kSteps = 100'000;
  try {
    Connection scratch({.file = "the table's text", .location = ":memory:"}, Role::writer);
    sqlite3_progress_handler(
        scratch.handle(), kSteps, [](void*) { return 1; }, nullptr);
    Session session(scratch);
    session.run(create);
    TableLayout layout = layout_of(session, table);
    return layout.empty() ? std::nullopt : std::optional(std::move(layout));
  } catch (const Error& error) {
    if (error.code() == ErrorCode::io) throw;
    return std::nullopt;
  }
}

bool may_be_row(const TableLayout& layout, const std::vector<Value>& fields) {
  if (fields.empty() || fields.size() > layout.size()) return false;
  for (std::size_t i = 0; i < layout.size(); ++i) {
    if (i >= fields.size() && layout[i].needed) return false;
    if (i < fields.size() && layout[i].is_row_number && !is_null(fields[i])) return false;
  }
  return true;
}

bool looks_like_row(const TableLayout& layout, const std::vector<Value>& fields) {
  if (!may_be_row(layout, fields)) return false;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (is_null(fields[i])) {
      if (layout[i].not_null && !layout[i].is_row_number) return false;
    } else if (!is_of(layout[i].stores, fields[i])) {
      return false;
    }
  }
  return true;
}

}  // namespace threadstore::db
