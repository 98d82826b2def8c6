#include "state/schema/components.h"

namespace threadstore::state {
namespace {

// Beside `jobs`, because other programs rewrite its rows: without a foreign key, so that their
// REPLACE keeps the count of attempts; the trigger follows a plain DELETE.
constexpr const char* kClaimsSql = R"sql(
  CREATE TABLE IF NOT EXISTS job_claims (
    job_id TEXT PRIMARY KEY NOT NULL,
    owner TEXT,
    claimed_at INTEGER,
    attempts INTEGER NOT NULL DEFAULT 0,
    max_attempts INTEGER NOT NULL DEFAULT 3
  );
  CREATE INDEX IF NOT EXISTS threadstore_jobs_queue ON jobs(status, created_at, id);

  CREATE TRIGGER IF NOT EXISTS threadstore_forget_job_claims AFTER DELETE ON jobs
  BEGIN
    DELETE FROM job_claims WHERE job_id = OLD.id;
  END;
)sql";

}  // namespace

db::Component jobs_component() {
  return {"jobs", {{1, [](db::Session& session) { session.script(kClaimsSql); }}}};
}

}  // namespace threadstore::state
