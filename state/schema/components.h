#pragma once

#include "state/db/migrations.h"

/// Our own additions, one file each (component_<name>.cpp). A later version of a component is a
/// further step; a step that has been released never changes.
namespace threadstore::state {

db::Component threads_component();
db::Component checkpoints_component();
db::Component jobs_component();
db::Component workflow_component();
db::Component leases_component();
db::Component runs_component();

}  // namespace threadstore::state
