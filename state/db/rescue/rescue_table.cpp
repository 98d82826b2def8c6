#include "state/db/rescue/rescue_table.h"

#include <sqlite3.h>

#include <algorithm>
#include <utility>

#include "threadstore/error.h"

namespace threadstore::db {

RescueTable::RescueTable(Connection& destination, std::string name, TableLayout layout)
    : destination_(destination),
      name_(std::move(name)),
      layout_(std::move(layout)),
      inserts_(layout_.size() + 1) {
  Session session(destination_);
  const TableLayout own = layout_of(session, name_);
  for (const Column& column : layout_) {
    taken_.push_back(std::any_of(own.begin(), own.end(),
                                 [&](const Column& other) { return other.name == column.name; }));
  }
  find_foreign_keys(session);
}

void RescueTable::find_foreign_keys(Session& session) {
  session.each(
      R"sql(SELECT "from", "table", coalesce("to", 'id') FROM pragma_foreign_key_list(?))sql",
      {name_}, [&](const Row& row) {
        for (std::size_t i = 0; i < layout_.size(); ++i) {
          if (layout_[i].name != row.view(0)) continue;
          foreign_keys_.push_back(
              {i, "SELECT 1 FROM " + row.text(1) + " WHERE " + row.text(2) + " = ?"});
        }
      });
}

const std::string& RescueTable::insert_of(std::size_t fields) {
  std::string& insert = inserts_[fields];
  if (!insert.empty()) return insert;
  std::string columns;
  std::string values;
  for (std::size_t i = 0; i < fields; ++i) {
    if (!taken_[i]) continue;
    columns += (columns.empty() ? "\"" : ", \"") + layout_[i].name + '"';
    values += values.empty() ? "?" : ", ?";
  }
  return insert = "INSERT INTO " + name_ + " (" + columns + ") VALUES (" + values + ")";
}

void RescueTable::put(std::int64_t number, const std::vector<Value>& fields) {
  const auto lose = [&](const std::string& why) { lost.push_back({{number, number}, why}); };
  std::vector<Value> values;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (!taken_[i]) continue;
    if (layout_[i].is_row_number && (number < 1 || number > kHighestRow)) {
      return lose("no row has such a number");
    }
    values.push_back(layout_[i].is_row_number ? Value(number) : fields[i]);
  }
  try {
    Connection::Running insert(destination_, insert_of(fields.size()), values);
    insert.step();
    ++rows_;
  } catch (const Error& failure) {
    if (failure.code() == ErrorCode::io) throw;
    lose(sqlite3_errmsg(destination_.handle()));
  }
}

std::size_t RescueTable::likeness(const std::vector<Value>& fields,
                                  const std::vector<std::string>& keys) {
  if (!looks_like_row(layout_, fields)) return 0;
  std::size_t likeness = fields.size() == layout_.size() ? 2 : 1;
  Session session(destination_);
  for (const ForeignKey& key : foreign_keys_) {
    if (key.column >= fields.size()) continue;
    const Value& value = fields[key.column];
    const auto* text = std::get_if<std::string_view>(&value.storage());
    if (text == nullptr) continue;
    const bool known =
        std::binary_search(keys.begin(), keys.end(), *text) || session.exists(key.find, {value});
    if (known) likeness += 2;
  }
  return likeness;
}

}  // namespace threadstore::db
