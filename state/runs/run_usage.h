#pragma once

#include <cstdint>

#include "state/db/session.h"
#include "threadstore/run_record.h"

namespace threadstore::state {

/// Throws `invalid_argument` unless every set budget is above 0.
void check_budgets(const RunBudgets& budgets);

void store_usage(db::Session& session, const RunId& run, const RunUsage& usage);
/// The same for a run above the one that used `added`.
void store_usage_above(db::Session& session, const RunId& run, const RunUsage& usage,
                       const RunUsage& added);
/// Stores own usage together with what runs below were charged with.
void store_own_usage(db::Session& session, const RunId& run, const RunUsage& own,
                     const RunUsage& below);
void store_budgets(db::Session& session, const RunId& run, const RunBudgets& budgets);

/// What `add` gives, or `conflict` naming the counter when it leaves 63 bits.
std::int64_t checked_sum(std::int64_t value, std::int64_t added, const char* counter,
                         const RunId& run);

/// The sum, or the highest number when it leaves 63 bits.
std::int64_t bounded_sum(std::int64_t one, std::int64_t other);

/// Sum and difference of two usages, field by field. A difference is not below zero; its tokens are
/// absent when no response of it reported them. A sum that leaves 63 bits stops there.
RunUsage sum_of_usage(const RunUsage& one, const RunUsage& other);
RunUsage usage_without(const RunUsage& whole, const RunUsage& part);

/// True when no counter of `part` is above that of `whole`.
bool covers(const RunUsage& whole, const RunUsage& part);

/// What a run used itself: its usage without what runs below were charged with.
RunUsage read_own_usage(db::Session& session, const RunId& run);

}  // namespace threadstore::state
