#include "state/schema/components.h"

namespace threadstore::state {

db::Component leases_component() {
  return {"leases", {{1, [](db::Session& session) {
                        // A slot is the offset of the holder's lock in state.db.leases and half of
                        // a token. AUTOINCREMENT: a slot is never used twice, so that no old token
                        // comes to life.
                        session.script(R"sql(
                CREATE TABLE IF NOT EXISTS leases (
                  slot INTEGER PRIMARY KEY AUTOINCREMENT,
                  kind TEXT NOT NULL,
                  id TEXT NOT NULL,
                  generation INTEGER NOT NULL,
                  owner TEXT NOT NULL,
                  since INTEGER NOT NULL,
                  UNIQUE (kind, id)
                );
              )sql");
                      }}}};
}

}  // namespace threadstore::state
