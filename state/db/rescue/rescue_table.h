#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "state/db/connection.h"
#include "state/db/rescue/lost_rows.h"
#include "state/db/rescue/table_layout.h"
#include "state/db/session.h"

namespace threadstore::db {

/// A table of the new database into which rows of the damaged one's table of that name are put.
class RescueTable {
 public:
  /// `layout` is that of the damaged database's table. Both outlive this object.
  RescueTable(Connection& destination, std::string name, TableLayout layout);

  const std::string& name() const noexcept { return name_; }
  std::int64_t rows() const noexcept { return rows_; }

  /// Whether the fields can be a row of the table at all.
  bool may_be_row(const std::vector<Value>& fields) const {
    return db::may_be_row(layout_, fields);
  }

  /// Stores such a row by the names of its columns; those that only one of the tables has are left
  /// out, or take their default. One that cannot be stored (a constraint, a number that no row has)
  /// is lost. Throws `io`.
  void put(std::int64_t number, const std::vector<Value>& fields);

  std::vector<LostRows> lost{};

  /// How well the fields look like a row of this table; 0: they are none. One with every column is
  /// better than one from before columns were added, and one whose foreign keys name rows that
  /// exist (stored ones, or `keys`, sorted) is better still.
  std::size_t likeness(const std::vector<Value>& fields, const std::vector<std::string>& keys);

 private:
  struct ForeignKey {
    std::size_t column = 0;
    std::string find;  ///< asks for the row that it names
  };

  const std::string& insert_of(std::size_t fields);
  void find_foreign_keys(Session& session);

  Connection& destination_;
  std::string name_;
  TableLayout layout_;
  std::vector<bool> taken_;           ///< by column: the new table has it too
  std::vector<std::string> inserts_;  ///< by count of fields
  std::vector<ForeignKey> foreign_keys_;
  std::int64_t rows_ = 0;
};

}  // namespace threadstore::db
