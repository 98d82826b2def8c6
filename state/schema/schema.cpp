#include "state/schema/schema.h"

#include "state/schema/components.h"
#include "state/schema/format.h"

namespace threadstore::state {

const db::Schema& state_schema() {
  static const db::Schema schema{
      .identity_table = "threads",
      .format = format_steps(),
      .components = {threads_component(), checkpoints_component(), jobs_component(),
                     workflow_component(), leases_component(), runs_component()},
  };
  return schema;
}

}  // namespace threadstore::state
