#pragma once

#include <cstdint>

#include "state/db/session.h"
#include "threadstore/run_record.h"

namespace threadstore::state {

/// Throws `invalid_argument` unless every set budget is above 0.
void check_budgets(const RunBudgets& budgets);

void store_usage(db::Session& session, const RunId& run, const RunUsage& usage);
void store_budgets(db::Session& session, const RunId& run, const RunBudgets& budgets);

/// What `add` gives, or `conflict` naming the counter when it leaves 63 bits.
std::int64_t checked_sum(std::int64_t value, std::int64_t added, const char* counter,
                         const RunId& run);

}  // namespace threadstore::state
