#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "threadstore/enum_names.h"
#include "threadstore/ids.h"
#include "threadstore/leases.h"
#include "threadstore/page.h"
#include "threadstore/patch.h"
#include "threadstore/time.h"

namespace threadstore {

namespace state {
struct StoreContext;
}

enum class JobStatus { queued, running, paused, completed, failed, cancelled };

/// An unknown word in the database reads as `queued`, but such a job is never claimed.
template <>
struct EnumNames<JobStatus> {
  static constexpr std::array table{
      std::pair{JobStatus::queued, std::string_view("queued")},
      std::pair{JobStatus::running, std::string_view("running")},
      std::pair{JobStatus::paused, std::string_view("paused")},
      std::pair{JobStatus::completed, std::string_view("completed")},
      std::pair{JobStatus::failed, std::string_view("failed")},
      std::pair{JobStatus::cancelled, std::string_view("cancelled")},
  };
};

/// A piece of background work: a row of `jobs`, and what `job_claims` knows of its workers.
struct Job {
  JobId id{};
  std::string name{};
  JobStatus status = JobStatus::queued;
  std::optional<int> progress{};  ///< per cent; values of other programs up to 255 read as they are
  std::optional<std::string> detail{};
  UnixSeconds created_at = 0;
  UnixSeconds updated_at = 0;
  std::optional<std::string> owner{};       ///< who claimed it, while it runs
  std::optional<UnixSeconds> claimed_at{};  ///< since when
  std::int64_t attempts = 0;                ///< how often it was claimed
  std::int64_t max_attempts = 3;            ///< a job whose workers died that often is given up
  bool interrupted = false;                 ///< `running`, but the worker's process is dead

  friend bool operator==(const Job&, const Job&) = default;
};

/// What `save` stores. An empty id is replaced by a UUIDv7.
struct NewJob {
  JobId id{};
  std::string name{};
  JobStatus status = JobStatus::queued;
  std::optional<int> progress{};  ///< 0 to 100
  std::optional<std::string> detail{};
  std::optional<UnixSeconds> created_at{};     ///< default: as stored, now for a new job
  std::optional<UnixSeconds> updated_at{};     ///< default: now (importers set it)
  std::optional<std::int64_t> max_attempts{};  ///< at least 1; default: as stored, 3 for a new job
};

/// Changes of single columns; what is absent keeps what others wrote.
struct JobPatch {
  std::optional<JobStatus> status{};
  Patch<int> progress{};  ///< 0 to 100
  Patch<std::string> detail{};
};

struct JobFilter {
  std::optional<JobStatus> status{};
  std::size_t limit = 100;             ///< 1 to 1,000
  std::optional<std::string> after{};  ///< a page's `next`
};

/// A job in the hands of a worker. While `lease` lives the job counts as worked on; when the
/// worker's process dies, the kernel frees the lease and the next claim re-queues the job.
struct ClaimedJob {
  Job job;
  Lease lease;
};

/// The jobs of a store: a queue that any number of processes work on. A light handle like
/// `Threads`; every call is atomic.
class Jobs {
 public:
  /// Inserts the job, or replaces its name, status, progress and detail; the count of attempts
  /// stays. `invalid_argument` for a progress outside 0 to 100.
  Job save(const NewJob& job);

  /// Changes the set fields. With a lease token: `conflict` when the job was given to another
  /// worker meanwhile. A status other than `running` ends the worker's claim.
  Job update(const JobId& id, const JobPatch& patch, const std::optional<LeaseToken>& lease = {});

  /// Re-queues what dead workers left (or gives it up as `failed` after its last attempt), then
  /// takes the oldest queued job, ordered by (created_at, id), for the caller. Of several
  /// processes that call at once each gets another job. Nothing when no job is queued.
  std::optional<ClaimedJob> claim(const std::string& owner);

  /// A claim that outlives the calling process, for programs that run this one once per step. It
  /// has no lease, so a death goes unnoticed: `requeue` gives the job back.
  std::optional<Job> claim_detached(const std::string& owner);

  /// Puts a running job back into the queue, whoever works on it: that worker's token turns
  /// stale. `conflict` when it is not running.
  Job requeue(const JobId& id);

  /// Re-queues every job whose worker died, as `claim` does; gives those jobs.
  std::vector<Job> requeue_interrupted();

  /// Most recently updated first. Shows interrupted jobs as `running` with `interrupted` set.
  Page<Job> list(const JobFilter& filter = {}) const;
  std::optional<Job> find(const JobId& id) const;
  Job get(const JobId& id) const;

  /// Says whether it was there.
  bool remove(const JobId& id);

 private:
  friend class StateStore;
  explicit Jobs(std::shared_ptr<state::StoreContext> context);
  std::shared_ptr<state::StoreContext> context_;
};

}  // namespace threadstore
