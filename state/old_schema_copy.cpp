#include "state/old_schema_copy.h"

#include <string>

#include "state/db/private_copy.h"
#include "state/schema/schema.h"

namespace threadstore::state {

void read_from_private_copy_when_old(StoreContext& context) {
  const bool current = context.read([&](db::Session& session) {
    return db::is_current(session, state_schema(), context.file.string());
  });
  if (current) return;
  auto directory = std::make_shared<db::TemporaryDirectory>();
  const std::filesystem::path copy = directory->path() / "state.db";
  context.database->copy_to(copy);
  db::Options options{.mode = db::Mode::read_write, .deadline = context.deadline};
  // The copy is ours alone: the backup that a migration makes of a foreign store goes with it.
  db::migrate(*db::Database::open(copy, options), state_schema(), {});
  options.mode = db::Mode::read_only;
  context.database = db::Database::open(copy, options);
  context.private_copy = std::move(directory);
}

}  // namespace threadstore::state
