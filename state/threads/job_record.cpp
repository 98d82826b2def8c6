#include "state/threads/job_record.h"

#include "state/leases/lease_file.h"
#include "state/leases/lease_token.h"
#include "threadstore/error.h"

namespace threadstore::state {
namespace {

std::optional<int> read_progress(const db::Row& row, int column) {
  if (!row.is_integer(column)) return std::nullopt;
  const std::int64_t progress = row.integer(column);
  if (progress < 0 || progress > 255) return std::nullopt;
  return static_cast<int>(progress);
}

}  // namespace

const std::string select_jobs = R"sql(
  SELECT jobs.id, jobs.name, jobs.status, jobs.progress, jobs.detail, jobs.created_at,
         jobs.updated_at, job_claims.owner, job_claims.claimed_at,
         coalesce(job_claims.attempts, 0), coalesce(job_claims.max_attempts, 3), leases.slot
  FROM jobs
  LEFT JOIN job_claims ON job_claims.job_id = jobs.id
  LEFT JOIN leases ON leases.kind = 'job' AND leases.id = jobs.id)sql";

Job read_job(StoreContext& context, const db::Row& row) {
  Job job{
      .id = row.get<JobId>(0),
      .name = row.text(1),
      .status = from_word<JobStatus>(row.view(2)).value_or(JobStatus::queued),
      .progress = read_progress(row, 3),
      .detail = row.get<std::optional<std::string>>(4),
      .created_at = row.integer(5),
      .updated_at = row.integer(6),
      .owner = {},
      .claimed_at = {},
      .attempts = row.integer(9),
      .max_attempts = row.integer(10),
      .interrupted = false,
  };
  // Another program may have ended the job without knowing of the claim.
  if (job.status == JobStatus::running) {
    job.owner = row.get<std::optional<std::string>>(7);
    job.claimed_at = row.get<std::optional<UnixSeconds>>(8);
    job.interrupted = !row.is_null(11) && !context.leases->is_held(row.integer(11));
  }
  return job;
}

std::optional<Job> find_job(StoreContext& context, db::Session& session, const JobId& id) {
  return session.one(select_jobs + " WHERE jobs.id = ?", {id},
                     [&](const db::Row& row) { return read_job(context, row); });
}

Job get_job(StoreContext& context, db::Session& session, const JobId& id) {
  if (auto job = find_job(context, session, id)) return *std::move(job);
  throw Error(ErrorCode::not_found, "there is no job " + id.str());
}

void check_progress(const JobId& id, std::optional<int> progress) {
  if (!progress || (*progress >= 0 && *progress <= 100)) return;
  throw Error(
      ErrorCode::invalid_argument,
      "the progress of job " + id.str() + " must be 0 to 100, not " + std::to_string(*progress));
}

void end_claim(db::Session& session, const JobId& id) {
  session.run("UPDATE job_claims SET owner = NULL, claimed_at = NULL WHERE job_id = ?", {id});
  drop_lease(session, LeaseKind::job, id.str());
}

}  // namespace threadstore::state
