#include "state/schema/components.h"

namespace threadstore::state {

db::Component checkpoints_component() {
  return {"checkpoints", {{1, [](db::Session& session) {
                             // Null in rows of other programs, which come before all of ours with
                             // the same time.
                             for (const char* column : {"save_order", "leaf_id"}) {
                               if (db::has_column(session, "checkpoints", column)) continue;
                               session.script(std::string("ALTER TABLE checkpoints ADD COLUMN ") +
                                              column + " INTEGER");
                             }
                           }}}};
}

}  // namespace threadstore::state
