#include <sys/stat.h>

#include "base/file_names.h"
#include "base/files.h"
#include "state/db/exclusive_hold.h"
#include "state/db/page_copy.h"
#include "state/maintenance/copy_file.h"
#include "state/schema/schema.h"
#include "threadstore/error.h"
#include "threadstore/maintenance.h"
#include "threadstore/state_store.h"

namespace threadstore {
namespace fs = std::filesystem;
namespace {

/// Read through SQLite, so that a WAL beside the backup counts and nothing there changes.
void copy_backup(const fs::path& backup, const fs::path& to, const RestoreOptions& options) {
  const auto source =
      db::Database::open(backup, {.mode = db::Mode::read_only,
                                  .deadline = options.deadline,
                                  .inspect = [&](db::Session& session) {
                                    db::is_current(session, state::state_schema(), backup.string());
                                  }});
  source->read([&](db::Session& session) { db::copy_pages(session, to, options.progress); });
}

std::string names_of(const std::vector<Check>& checks) {
  std::string names;
  for (const Check& check : checks) names += (names.empty() ? "" : "; ") + check.detail;
  return names;
}

/// Gives the old store a second name, so that it never is without one, and takes what would belong
/// to the new file by its name alone out of the way: what could not be drained goes with it.
void keep_old(const fs::path& database, const fs::path& kept, bool drained) {
  if (!base::add_name(database, kept)) base::rename_file(database, kept);
  ::chmod(kept.c_str(), 0600);
  for (const char* part : {"-wal", "-journal"}) {
    const std::string name = database.string() + part;
    if (drained) {
      base::remove_name(name);
    } else if (fs::exists(name)) {
      base::rename_file(name, kept.string() + part);
    }
  }
  base::remove_name(database.string() + "-shm");
  base::sync_directory(database.parent_path());  // before the name that both had is the new one's
}

}  // namespace

Restored restore(const fs::path& backup, const fs::path& database, const RestoreOptions& options) {
  if (!fs::exists(backup)) {
    throw Error(ErrorCode::not_found, "there is no backup at " + backup.string());
  }
  std::error_code ignored;
  if (fs::equivalent(backup, database, ignored)) {
    throw Error(ErrorCode::invalid_argument,
                "cannot restore " + database.string() + " from itself; name the backup");
  }
  const fs::path target = fs::weakly_canonical(fs::absolute(database));
  base::make_directories(target.parent_path());
  state::UnpublishedFile copy(target);
  copy_backup(backup, copy.path(), options);
  Restored done{.database = target, .findings = state::verify_copy(copy.path())};
  if (!done.findings.empty() && !options.accept_findings) {
    throw Error(ErrorCode::damaged, "did not restore " + backup.string() +
                                        ": records in it are damaged: " + names_of(done.findings) +
                                        ". Nothing was changed");
  }
  copy.sync();
  if (fs::exists(target)) {
    const db::ExclusiveHold hold(target, options.deadline);
    done.kept = state::name_beside(target, "before-restore", options.clock());
    keep_old(target, *done.kept, hold.drained());
    copy.publish(/*overwrite=*/true);
  } else {
    copy.publish(/*overwrite=*/false);
  }
  StateStore::open(target, {.deadline = options.deadline, .clock = options.clock}).rebuild_index();
  return done;
}

}  // namespace threadstore
