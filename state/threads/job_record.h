#pragma once

#include <optional>
#include <string>

#include "state/db/session.h"
#include "state/store_context.h"
#include "threadstore/jobs.h"

namespace threadstore::state {

/// `SELECT … FROM jobs …` with what `job_claims` and `leases` know: append " WHERE …" to it.
extern const std::string select_jobs;

/// Reads a row of `select_jobs`.
Job read_job(StoreContext& context, const db::Row& row);

std::optional<Job> find_job(StoreContext& context, db::Session& session, const JobId& id);
/// Throws `not_found`.
Job get_job(StoreContext& context, db::Session& session, const JobId& id);

/// Throws `invalid_argument` unless the progress is absent or 0 to 100.
void check_progress(const JobId& id, std::optional<int> progress);

/// Ends the claim of whoever works on the job: nobody owns it, and his token turns stale. The count
/// of attempts stays.
void end_claim(db::Session& session, const JobId& id);

}  // namespace threadstore::state
