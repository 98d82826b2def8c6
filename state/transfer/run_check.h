#pragma once

#include <vector>

#include "threadstore/transfer.h"

namespace threadstore::state {

/// Throws `invalid_argument`, saying what, when a record contradicts itself or its log, or holds
/// what no run of ours can hold.
void check_run_record(const RunRecord& record, const std::vector<RunEvent>& events);

}  // namespace threadstore::state
