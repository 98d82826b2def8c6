#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "state/db/database.h"

namespace threadstore::db {

/// One step of a schema: brings it from `version - 1` to `version`. Idempotent: what it adds may
/// be there already. Runs inside a write transaction.
struct Step {
  std::int64_t version;
  std::function<void(Session&)> apply;
};

/// A component's own additions, versioned in `threadstore_schema`.
struct Component {
  std::string name;
  std::vector<Step> steps;
};

/// The whole schema: the file format's steps (`PRAGMA user_version`) and our components, in order.
struct Schema {
  std::string identity_table{};  ///< a database with other tables and not this one is foreign
  std::vector<Step> format{};
  std::vector<Component> components{};
};

/// Throws `newer_format`, naming both numbers, when the file or a component is ahead of `schema`,
/// and `invalid_argument` when the file is another program's. Brings everything up to date
/// otherwise: each step one transaction that re-reads the version first, so several openers may run
/// this at once. Before the first step on a database that already holds tables, a backup
/// `<file>.v<N>.bak` is made and `notice` is told.
void migrate(Database& database, const Schema& schema,
             const std::function<void(const std::string&)>& notice);

/// True when every version in the file is the schema's own. Throws `newer_format` as above.
bool is_current(Session& session, const Schema& schema, const std::string& file);

/// True when the table has the column: steps that add one ask first.
bool has_column(Session& session, const std::string& table, const std::string& column);

}  // namespace threadstore::db
