#pragma once

#include <cstdint>
#include <string>

#include "state/runs/run_record.h"
#include "threadstore/run_steps.h"

namespace threadstore::state {

/// `SELECT … FROM run_steps AS s WHERE s.run_id = ?1`: append " AND …".
extern const std::string select_steps;
RunStep read_step(const db::Row& row);

// Each is one look into an index, however many steps there are.
inline constexpr const char* last_step_sql =
    "SELECT coalesce(max(step), 0) FROM run_steps WHERE run_id = ?1";
inline constexpr const char* last_committed_sql =
    "SELECT coalesce(max(step), 0) FROM run_steps"
    " WHERE run_id = ?1 AND committed_sequence IS NOT NULL";
inline constexpr const char* own_tokens_sql = "SELECT step_tokens FROM runs WHERE id = ?1";
inline constexpr const char* tree_tokens_sql = "SELECT tree_step_tokens FROM runs WHERE id = ?1";

/// 0 without one.
std::int64_t last_step(db::Session& session, const RunId& run);
std::int64_t last_committed_step(db::Session& session, const RunId& run);
/// Behind the last committed step.
ResumePoint resume_point(db::Session& session, const RunId& run);

/// Throws `invalid_argument` when a step must not be stored.
void check_step(const NewStep& step, std::size_t most);

/// Adds to the sums of a run's tokens, its own and its tree's, and to the trees' of all above it.
/// Throws `conflict` when a sum would leave 63 bits.
void add_step_tokens(db::Session& session, const RunId& run, const std::optional<RunId>& parent,
                     std::int64_t own, std::int64_t tree);
void insert_step_row(db::Session& session, const RunStep& row);

/// Stores the next attempt at a step with its event and sums, in any lifecycle of the run and
/// without a look at what is committed.
RunStep insert_step(db::Session& session, const RunHead& run, const NewStep& step, bool committed,
                    UnixMillis now);

}  // namespace threadstore::state
