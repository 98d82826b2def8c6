#include "state/db/migrations.h"

#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/file_names.h"
#include "base/files.h"
#include "threadstore/error.h"

namespace threadstore::db {
namespace {

constexpr const char* kMakeComponents = R"sql(
  CREATE TABLE IF NOT EXISTS threadstore_schema(
    component TEXT PRIMARY KEY,
    version INTEGER NOT NULL)
)sql";

std::int64_t newest(const std::vector<Step>& steps) {
  return steps.empty() ? 0 : steps.back().version;
}

std::int64_t format_version(Session& session) {
  return session.value<std::int64_t>("PRAGMA user_version").value_or(0);
}

bool has_table(Session& session, const std::string& table) {
  return session.exists("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", {table});
}

std::int64_t component_version(Session& session, const std::string& component) {
  if (!has_table(session, "threadstore_schema")) return 0;
  return session
      .value<std::int64_t>("SELECT version FROM threadstore_schema WHERE component = ?",
                           {component})
      .value_or(0);
}

void refuse_newer(const std::string& file, const std::string& what, std::int64_t found,
                  std::int64_t known) {
  if (found <= known) return;
  throw Error(ErrorCode::newer_format,
              "cannot open " + file + ": its " + what + " is version " + std::to_string(found) +
                  ", and this program knows up to version " + std::to_string(known) +
                  "; use a newer threadstore. Nothing was changed");
}

/// A database of another program must not become ours by opening it.
void refuse_foreign(Session& session, const Schema& schema, const std::string& file) {
  const bool empty = !session.exists(
      "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE "
      "'\\'");
  const bool ours = has_table(session, schema.identity_table) ||
                    has_table(session, "threadstore_schema");  // an opener that is migrating it
  if (empty || ours) return;
  throw Error(ErrorCode::invalid_argument,
              "cannot open " + file + ": it is a SQLite database of another program (no table '" +
                  schema.identity_table +
                  "'); nothing was changed. To take over its history, use "
                  "'threadstore import'");
}

/// Runs one step unless another opener was faster: the version is read again under the write lock.
void run_step(Database& database, const Step& step, const std::string& component) {
  database.write([&](Session& session) {
    const bool format = component.empty();
    const auto present = format ? format_version(session) : component_version(session, component);
    if (present >= step.version) return;
    step.apply(session);
    if (format) {
      session.script("PRAGMA user_version = " + std::to_string(step.version));
      return;
    }
    session.run(R"sql(
      INSERT INTO threadstore_schema(component, version) VALUES(?1, ?2)
      ON CONFLICT(component) DO UPDATE SET version = excluded.version
    )sql",
                {component, step.version});
  });
}

/// Makes the table of our components, which marks a file as ours; before that keeps a file of
/// another program as it was. Several openers may be here at once: each copies under a name of its
/// own, and publishes the copy in the transaction that makes the table. So a backup is published
/// only while no step has run, and a later opener discards its copy.
void take_possession(Database& database, const Schema& schema,
                     const std::function<void(const std::string&)>& notice) {
  std::int64_t found = 0;
  const bool foreign = database.read([&](Session& session) {
    found = format_version(session);
    return has_table(session, schema.identity_table) && !has_table(session, "threadstore_schema");
  });
  const bool keep = foreign && database.mode() == Mode::read_write;
  const std::filesystem::path backup =
      database.file().string() + ".v" + std::to_string(found) + ".bak";
  const std::filesystem::path copy = backup.string() + "." + std::to_string(::getpid());
  if (keep) database.copy_to(copy);
  const bool published = database.write([&](Session& session) {
    if (has_table(session, "threadstore_schema")) return false;
    session.script(kMakeComponents);
    if (keep) base::rename_file(copy, backup);
    return keep;
  });
  if (!keep) return;
  if (!published) {
    base::remove_name(copy);
    return;
  }
  base::sync_directory(backup.parent_path());
  if (notice) {
    notice("the store " + database.file().string() + " (schema " + std::to_string(found) +
           ") is now also used by threadstore, which keeps it readable for the program that made "
           "it; a copy as it was is in " +
           backup.string());
  }
}

}  // namespace

bool is_current(Session& session, const Schema& schema, const std::string& file) {
  refuse_foreign(session, schema, file);
  const std::int64_t found = format_version(session);
  refuse_newer(file, "schema", found, newest(schema.format));
  bool current = found == newest(schema.format);
  for (const Component& component : schema.components) {
    const std::int64_t present = component_version(session, component.name);
    refuse_newer(file, "component '" + component.name + "'", present, newest(component.steps));
    current = current && present == newest(component.steps);
  }
  return current;
}

void migrate(Database& database, const Schema& schema,
             const std::function<void(const std::string&)>& notice) {
  const bool current = database.read(
      [&](Session& session) { return is_current(session, schema, database.file().string()); });
  if (current) return;
  take_possession(database, schema, notice);
  for (const Step& step : schema.format) run_step(database, step, "");
  for (const Component& component : schema.components) {
    for (const Step& step : component.steps) run_step(database, step, component.name);
  }
}

bool has_column(Session& session, const std::string& table, const std::string& column) {
  return session.exists("SELECT 1 FROM pragma_table_info(?) WHERE name = ?", {table, column});
}

}  // namespace threadstore::db
