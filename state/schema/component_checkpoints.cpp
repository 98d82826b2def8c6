#include "state/schema/components.h"

namespace threadstore::state {
namespace {

// The latest checkpoint is the first by (created_at, save_order, checkpoint_id), descending. Our
// saves choose both numbers; the triggers number what other programs insert (their rows arrive with
// the default 0) or overwrite (their update leaves the number as it is). An overwritten state no
// longer belongs to the remembered leaf, so that is forgotten.
constexpr const char* kOrderSql = R"sql(
  CREATE INDEX IF NOT EXISTS threadstore_checkpoints_latest
    ON checkpoints(thread_id, created_at DESC, save_order DESC, checkpoint_id DESC);

  CREATE TRIGGER IF NOT EXISTS threadstore_number_foreign_checkpoint_insert
  AFTER INSERT ON checkpoints WHEN NEW.save_order = 0
  BEGIN
    UPDATE checkpoints
       SET save_order = (SELECT max(save_order) + 1 FROM checkpoints
                          WHERE thread_id = NEW.thread_id)
     WHERE thread_id = NEW.thread_id AND checkpoint_id = NEW.checkpoint_id;
  END;

  CREATE TRIGGER IF NOT EXISTS threadstore_number_foreign_checkpoint_update
  AFTER UPDATE OF state_json ON checkpoints WHEN NEW.save_order = OLD.save_order
  BEGIN
    UPDATE checkpoints
       SET leaf_id = NULL,
           save_order = (SELECT max(save_order) + 1 FROM checkpoints
                          WHERE thread_id = NEW.thread_id)
     WHERE thread_id = NEW.thread_id AND checkpoint_id = NEW.checkpoint_id;
  END;
)sql";

void add_order_and_leaf(db::Session& session) {
  if (!db::has_column(session, "checkpoints", "save_order")) {
    session.script("ALTER TABLE checkpoints ADD COLUMN save_order INTEGER NOT NULL DEFAULT 0");
  }
  // Null: no leaf was remembered; 0: the thread was empty.
  if (!db::has_column(session, "checkpoints", "leaf_id")) {
    session.script("ALTER TABLE checkpoints ADD COLUMN leaf_id INTEGER");
  }
  session.script(kOrderSql);
}

}  // namespace

db::Component checkpoints_component() { return {"checkpoints", {{1, add_order_and_leaf}}}; }

}  // namespace threadstore::state
