#include "state/maintenance/backup.h"

#include "base/sha256.h"
#include "state/db/page_copy.h"
#include "state/maintenance/copy_file.h"
#include "threadstore/error.h"

namespace threadstore::state {
namespace fs = std::filesystem;
namespace {

void refuse_impossible(StoreContext& context, const fs::path& target, bool overwrite) {
  if (context.database->mode() == db::Mode::memory) {
    throw Error(ErrorCode::invalid_argument, "a store in memory cannot be backed up");
  }
  if (context.database->in_transaction()) {
    throw Error(ErrorCode::invalid_argument,
                "cannot back up " + context.file.string() + " inside a transaction");
  }
  std::error_code ignored;
  if (fs::equivalent(target, context.file, ignored)) {
    throw Error(ErrorCode::invalid_argument,
                "cannot back up " + context.file.string() + " onto itself; name another file");
  }
  if (!overwrite && fs::exists(fs::symlink_status(target))) throw_exists(target);
}

}  // namespace

Backup back_up(StoreContext& context, const fs::path& file, const BackupOptions& options) {
  const fs::path target = fs::absolute(file);
  refuse_impossible(context, target, options.overwrite);
  UnpublishedFile copy(target);
  context.read(
      [&](db::Session& session) { db::copy_pages(session, copy.path(), options.progress); });
  Backup done{.file = target, .findings = verify_copy(copy.path())};
  done.sha256 = base::sha256_of_file(copy.path());
  done.bytes = copy.sync();
  copy.publish(options.overwrite);
  return done;
}

}  // namespace threadstore::state
