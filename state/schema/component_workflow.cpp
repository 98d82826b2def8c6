#include "state/schema/components.h"

namespace threadstore::state {

db::Component workflow_component() {
  return {"workflow", {{1, [](db::Session& session) {
                          // The format's indexes serve the lists by status and by workflow.
                          session.script(R"sql(
                            CREATE INDEX IF NOT EXISTS threadstore_workflow_runs_list
                              ON workflow_runs(started_at DESC, id DESC))sql");
                        }}}};
}

}  // namespace threadstore::state
