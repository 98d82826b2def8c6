#include "threadstore/jobs.h"

#include "base/ids.h"
#include "state/db/session.h"
#include "state/leases/lease_token.h"
#include "state/store_context.h"
#include "state/threads/job_record.h"
#include "state/threads/keyset_cursor.h"
#include "state/threads/thread_record.h"
#include "threadstore/error.h"

namespace threadstore {

Jobs::Jobs(std::shared_ptr<state::StoreContext> context) : context_(std::move(context)) {}

Job Jobs::save(const NewJob& job) {
  const UnixSeconds now = context_->now_seconds();
  const JobId id = job.id.empty() ? JobId(base::make_uuid_v7(context_->now_millis())) : job.id;
  state::check_progress(id, job.progress);
  if (job.name.empty()) {
    throw Error(ErrorCode::invalid_argument, "job " + id.str() + " needs a name");
  }
  state::check_text(id.str(), "id");
  state::check_text(job.name, "name");
  state::check_text(job.detail.value_or(""), "detail");
  if (job.max_attempts && *job.max_attempts < 1) {
    throw Error(ErrorCode::invalid_argument,
                "max_attempts of job " + id.str() + " must be at least 1");
  }
  return context_->write([&](db::Session& session) {
    session.run(
        R"(INSERT INTO jobs (id, name, status, progress, detail, created_at, updated_at)
           VALUES (?1, ?2, ?3, ?4, ?5, coalesce(?6, ?7), coalesce(?8, ?7))
           ON CONFLICT (id) DO UPDATE SET
             name = excluded.name, status = excluded.status, progress = excluded.progress,
             detail = excluded.detail, created_at = coalesce(?6, jobs.created_at),
             updated_at = excluded.updated_at)",
        {id, job.name, job.status, job.progress, job.detail, job.created_at, now, job.updated_at});
    if (job.max_attempts) {
      session.run(R"(INSERT INTO job_claims (job_id, max_attempts) VALUES (?, ?)
                     ON CONFLICT (job_id) DO UPDATE SET max_attempts = excluded.max_attempts)",
                  {id, *job.max_attempts});
    }
    if (job.status != JobStatus::running) state::end_claim(session, id);
    return state::get_job(*context_, session, id);
  });
}

Job Jobs::update(const JobId& id, const JobPatch& patch, const std::optional<LeaseToken>& lease) {
  state::check_text(patch.detail.value().value_or(""), "detail");
  if (patch.progress.changes()) state::check_progress(id, patch.progress.value());
  return context_->write([&](db::Session& session) {
    state::get_job(*context_, session, id);
    if (lease) state::check_token(session, LeaseKind::job, id.str(), *lease);
    session.run(
        R"(UPDATE jobs SET
             status = coalesce(?1, status),
             progress = CASE WHEN ?2 THEN ?3 ELSE progress END,
             detail = CASE WHEN ?4 THEN ?5 ELSE detail END,
             updated_at = CASE WHEN updated_at > ?6 THEN updated_at ELSE ?6 END
           WHERE id = ?7)",
        {patch.status, patch.progress.changes(), patch.progress.value(), patch.detail.changes(),
         patch.detail.value(), context_->now_seconds(), id});
    if (patch.status && *patch.status != JobStatus::running) state::end_claim(session, id);
    return state::get_job(*context_, session, id);
  });
}

Page<Job> Jobs::list(const JobFilter& filter) const {
  state::check_limit(filter.limit);
  const state::KeysetCursor after = state::KeysetCursor::parse(filter.after);
  return context_->read([&](db::Session& session) {
    Page<Job> page;
    page.items = session.all(state::select_jobs + R"( WHERE (jobs.updated_at, jobs.id) < (?1, ?2)
            AND (?3 IS NULL OR jobs.status = ?3
                 OR (?3 = 'queued' AND jobs.status NOT IN
                     ('running', 'paused', 'completed', 'failed', 'cancelled')))
          ORDER BY jobs.updated_at DESC, jobs.id DESC LIMIT ?4)",
                             {after.at, after.id, filter.status, filter.limit + 1},
                             [&](const db::Row& row) { return state::read_job(*context_, row); });
    if (page.items.size() > filter.limit) {
      page.items.pop_back();
      const Job& last = page.items.back();
      page.next = state::KeysetCursor{last.updated_at, 0, last.id.str()}.str();
    }
    return page;
  });
}

std::optional<Job> Jobs::find(const JobId& id) const {
  return context_->read(
      [&](db::Session& session) { return state::find_job(*context_, session, id); });
}

Job Jobs::get(const JobId& id) const {
  return context_->read(
      [&](db::Session& session) { return state::get_job(*context_, session, id); });
}

bool Jobs::remove(const JobId& id) {
  return context_->write([&](db::Session& session) {
    state::drop_lease(session, LeaseKind::job, id.str());
    return session.run("DELETE FROM jobs WHERE id = ?", {id}) > 0;
  });
}

}  // namespace threadstore
