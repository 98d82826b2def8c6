#include "state/db/session.h"
#include "state/store_context.h"
#include "state/threads/job_record.h"
#include "state/threads/thread_record.h"
#include "threadstore/error.h"
#include "threadstore/jobs.h"

// Who works on a job. Everything here happens inside one write transaction, so of any number of
// processes exactly one gets a job, and:
// 1. A claimed job is `running`, has an owner and one attempt more.
// 2. A lease's lock is held before its row can be seen, so a living worker never looks dead.
// 3. Only a job with a lease row of ours can be found interrupted: what other programs left as
//    `running`, and detached claims, nobody can tell dead from alive.
namespace threadstore {
namespace {

/// Marks the oldest queued job as running for the owner. Jobs whose status is an unknown word wait
/// for whoever understands it.
std::optional<JobId> take_oldest(state::StoreContext& context, db::Session& session,
                                 const std::string& owner) {
  const auto id = session.value<JobId>(
      "SELECT id FROM jobs WHERE status = 'queued' ORDER BY created_at, id LIMIT 1");
  if (!id) return std::nullopt;
  const UnixSeconds now = context.now_seconds();
  session.run(R"(UPDATE jobs SET
                   status = 'running',
                   updated_at = CASE WHEN updated_at > ?1 THEN updated_at ELSE ?1 END
                 WHERE id = ?2)",
              {now, *id});
  session.run(R"(INSERT INTO job_claims (job_id, owner, claimed_at, attempts) VALUES (?, ?, ?, 1)
                 ON CONFLICT (job_id) DO UPDATE SET
                   owner = excluded.owner, claimed_at = excluded.claimed_at,
                   attempts = job_claims.attempts + 1)",
              {*id, owner, now});
  return id;
}

/// A dead worker's job goes back to the queue, or is given up when it had its last attempt.
Job settle(state::StoreContext& context, db::Session& session, const Job& job) {
  const bool give_up = job.attempts >= job.max_attempts;
  session.run(
      R"(UPDATE jobs SET
           status = ?1,
           detail = CASE WHEN ?2 THEN coalesce(detail, ?3) ELSE detail END,
           updated_at = CASE WHEN updated_at > ?4 THEN updated_at ELSE ?4 END
         WHERE id = ?5)",
      {give_up ? JobStatus::failed : JobStatus::queued, give_up,
       "given up: " + std::to_string(job.attempts) + " workers died", context.now_seconds(),
       job.id});
  state::end_claim(session, job.id);
  return state::get_job(context, session, job.id);
}

std::vector<Job> settle_interrupted(state::StoreContext& context, db::Session& session) {
  auto jobs = session.all(state::select_jobs +
                              " WHERE leases.slot IS NOT NULL AND jobs.status = 'running'"
                              " ORDER BY jobs.created_at, jobs.id",
                          {}, [&](const db::Row& row) { return state::read_job(context, row); });
  std::erase_if(jobs, [](const Job& job) { return !job.interrupted; });
  for (Job& job : jobs) job = settle(context, session, job);
  return jobs;
}

}  // namespace

std::optional<ClaimedJob> Jobs::claim(const std::string& owner) {
  state::check_text(owner, "owner");
  return context_->write([&](db::Session& session) -> std::optional<ClaimedJob> {
    settle_interrupted(*context_, session);
    const auto id = take_oldest(*context_, session, owner);
    if (!id) return std::nullopt;
    Lease lease = Leases(context_).take_over(LeaseKind::job, id->str(), owner);
    return ClaimedJob{.job = state::get_job(*context_, session, *id), .lease = std::move(lease)};
  });
}

std::optional<Job> Jobs::claim_detached(const std::string& owner) {
  state::check_text(owner, "owner");
  return context_->write([&](db::Session& session) -> std::optional<Job> {
    settle_interrupted(*context_, session);
    const auto id = take_oldest(*context_, session, owner);
    if (!id) return std::nullopt;
    return state::get_job(*context_, session, *id);
  });
}

Job Jobs::requeue(const JobId& id) {
  return context_->write([&](db::Session& session) {
    const Job job = state::get_job(*context_, session, id);
    if (job.status != JobStatus::running) {
      throw Error(ErrorCode::conflict, "cannot re-queue job " + id.str() + ": it is " +
                                           std::string(to_word(job.status)) + ", not running");
    }
    session.run(R"(UPDATE jobs SET
                     status = 'queued',
                     updated_at = CASE WHEN updated_at > ?1 THEN updated_at ELSE ?1 END
                   WHERE id = ?2)",
                {context_->now_seconds(), id});
    state::end_claim(session, id);
    return state::get_job(*context_, session, id);
  });
}

std::vector<Job> Jobs::requeue_interrupted() {
  return context_->write(
      [&](db::Session& session) { return settle_interrupted(*context_, session); });
}

}  // namespace threadstore
