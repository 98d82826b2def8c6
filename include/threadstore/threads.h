#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "threadstore/enum_names.h"
#include "threadstore/ids.h"
#include "threadstore/page.h"
#include "threadstore/patch.h"
#include "threadstore/time.h"

namespace threadstore {

namespace state {
struct StoreContext;
}

enum class ThreadStatus { running, idle, completed, failed, paused, archived };

template <>
struct EnumNames<ThreadStatus> {
  static constexpr std::array table{
      std::pair{ThreadStatus::running, std::string_view("running")},
      std::pair{ThreadStatus::idle, std::string_view("idle")},
      std::pair{ThreadStatus::completed, std::string_view("completed")},
      std::pair{ThreadStatus::failed, std::string_view("failed")},
      std::pair{ThreadStatus::paused, std::string_view("paused")},
      std::pair{ThreadStatus::archived, std::string_view("archived")},
  };
};

enum class SessionSource { interactive, resume, fork, api, unknown };

template <>
struct EnumNames<SessionSource> {
  static constexpr std::array table{
      std::pair{SessionSource::interactive, std::string_view("interactive")},
      std::pair{SessionSource::resume, std::string_view("resume")},
      std::pair{SessionSource::fork, std::string_view("fork")},
      std::pair{SessionSource::api, std::string_view("api")},
      std::pair{SessionSource::unknown, std::string_view("unknown")},
  };
};

/// Where a forked thread came from. The source may have been removed since.
struct ForkOrigin {
  ThreadId thread_id;
  std::optional<MessageId> message_id;  ///< the fork point; absent: forked from an empty thread

  friend bool operator==(const ForkOrigin&, const ForkOrigin&) = default;
};

/// One conversation: a row of `threads`.
struct Thread {
  ThreadId id;
  std::optional<std::string> rollout_path;  ///< transcript file of the program that made it
  std::string preview;                      ///< first words, for lists
  bool ephemeral = false;
  std::string model_provider;
  UnixSeconds created_at = 0;
  UnixSeconds updated_at = 0;  ///< last activity: append, branch, touch
  ThreadStatus status = ThreadStatus::idle;
  std::optional<std::string> path;
  std::string cwd;  ///< the directory that it was started in
  std::string cli_version;
  SessionSource source = SessionSource::unknown;
  std::optional<std::string> name;  ///< column `title`
  std::optional<std::string> sandbox_policy;
  std::optional<std::string> approval_mode;
  bool archived = false;
  std::optional<UnixSeconds> archived_at;
  std::optional<std::string> git_sha;
  std::optional<std::string> git_branch;
  std::optional<std::string> git_origin_url;
  std::optional<std::string> memory_mode;
  std::optional<MessageId> current_leaf_id;  ///< tip of the active branch; read-only in `upsert`
  std::optional<ForkOrigin> forked_from;     ///< read-only; set by `fork`
  /// Read-only: the stored status is `running`, and the process that held its lease is dead.
  bool interrupted = false;

  friend bool operator==(const Thread&, const Thread&) = default;
};

/// What a new thread starts with. The store gives it a UUIDv7 unless `id` is set.
struct NewThread {
  std::optional<ThreadId> id{};
  std::optional<std::string> name{};
  std::string cwd{};
  std::string preview{};
  std::string model_provider{};
  std::string cli_version{};
  SessionSource source = SessionSource::interactive;
  bool ephemeral = false;
  std::optional<std::string> rollout_path{};
  std::optional<std::string> path{};
  std::optional<std::string> sandbox_policy{};
  std::optional<std::string> approval_mode{};
  std::optional<std::string> git_sha{};
  std::optional<std::string> git_branch{};
  std::optional<std::string> git_origin_url{};
  std::optional<std::string> memory_mode{};
  std::optional<UnixSeconds> created_at{};  ///< default: now (importers set it)
  std::optional<UnixSeconds> updated_at{};  ///< default: created_at
};

/// Changes of single columns; what is absent keeps what other processes wrote.
struct ThreadPatch {
  Patch<std::string> name{};
  Patch<std::string> rollout_path{};
  Patch<std::string> path{};
  Patch<std::string> sandbox_policy{};
  Patch<std::string> approval_mode{};
  Patch<std::string> git_sha{};
  Patch<std::string> git_branch{};
  Patch<std::string> git_origin_url{};
  Patch<std::string> memory_mode{};
  std::optional<std::string> preview{};
  std::optional<std::string> cwd{};
  std::optional<std::string> model_provider{};
  std::optional<std::string> cli_version{};
};

/// A thread after a change that the session index must learn of.
struct ThreadChange {
  Thread thread;
  /// The change is stored, but the index could not be written yet (its lock was held, or the disk
  /// refused). The next write of any process brings it in. Inside a transaction always true.
  bool index_pending = false;
};

enum class ArchivedFilter { active, archived, all };

/// Which threads to list; every set field must match.
struct ThreadFilter {
  ArchivedFilter archived = ArchivedFilter::active;
  std::optional<std::string> cwd{};
  std::optional<SessionSource> source{};
  std::optional<ThreadStatus> status{};
  std::optional<std::string> model_provider{};
  std::optional<std::string> name_part{};      ///< case-insensitive (ASCII) part of the name
  std::optional<UnixSeconds> updated_since{};  ///< updated_at >= this
  std::optional<UnixSeconds> updated_until{};  ///< updated_at < this
  std::size_t limit = 50;                      ///< 1 to 1,000
  std::optional<std::string> after{};          ///< a page's `next`
};

struct ForkRequest {
  ThreadId source;
  std::optional<MessageId> at{};  ///< default: the source's current leaf
  std::optional<std::string> name{};
  std::optional<std::string> cwd{};         ///< default: the source's
  std::optional<ThreadId> id{};             ///< default: a UUIDv7; `conflict` when it is taken
  std::optional<UnixSeconds> created_at{};  ///< default: now (importers set it)
};

struct RemovedThread {
  bool existed = false;
  std::int64_t messages = 0;  ///< deleted, or handed to a fork that still shows them
  std::int64_t runs = 0;
  bool index_pending = false;
  bool text_may_linger = false;  ///< readers kept old pages of the WAL from being reset
};

/// Called between batches of long work with what is done and the total so far known.
using Progress = std::function<void(std::int64_t done, std::int64_t total)>;

/// The threads of a store. A light handle: copy freely, use from several threads at once; it keeps
/// the store open. Every call is atomic. Unless said otherwise a write throws `busy` past the
/// store's deadline, and `not_found` naming the id when the thread does not exist or is being
/// removed.
class Threads {
 public:
  /// Makes a thread and queues its index entry. Throws `conflict` when `id` is taken.
  ThreadChange create(const NewThread& thread);

  /// Inserts the row, or replaces every column but `current_leaf_id`. For the format's sake (a
  /// whole-row write undoes what others changed meanwhile): prefer `create` and `update`.
  ThreadChange upsert(const Thread& thread);

  /// Changes the set fields only. Does not move `updated_at`.
  ThreadChange update(const ThreadId& id, const ThreadPatch& patch);
  ThreadChange rename(const ThreadId& id, const std::string& name);

  /// Records activity: `updated_at` becomes the later of its value and `when` (default now).
  Thread touch(const ThreadId& id, std::optional<std::string> preview = {},
               std::optional<UnixSeconds> when = {});

  /// Sets the stored status word. Never overwrites `archived`; does not move `updated_at`.
  void set_status(const ThreadId& id, ThreadStatus status);

  void set_memory_mode(const ThreadId& id, std::optional<std::string> mode);
  std::optional<std::string> memory_mode(const ThreadId& id) const;

  std::optional<Thread> find(const ThreadId& id) const;
  Thread get(const ThreadId& id) const;

  /// Most recently active first; ties broken by id, so that paging is stable.
  Page<Thread> list(const ThreadFilter& filter = {}) const;
  std::int64_t count(const ThreadFilter& filter = {}) const;  ///< ignores limit and after

  /// All threads of that name (case-insensitive, ASCII), archived ones too, newest first.
  std::vector<Thread> find_by_name(const std::string& name) const;
  /// Threads whose id starts or ends with `part`, at most `limit`.
  std::vector<Thread> find_by_id_part(const std::string& part, std::size_t limit = 20) const;
  std::optional<std::string> find_rollout_path(const ThreadId& id) const;

  /// Both say whether the thread was there. Archiving sets status `archived`; un-archiving makes
  /// that status `idle` again.
  bool archive(const ThreadId& id);
  bool unarchive(const ThreadId& id);

  /// A new thread that starts as the branch of `source` that ends at `at`. Copies no message: takes
  /// as long as one append whatever the depth. Its history survives removal or clearing of the
  /// source. Throws `not_found` when the source or the message in its view does not exist.
  ThreadChange fork(const ForkRequest& request);

  /// Removes the thread with messages, checkpoints, tools, goal and runs, and tombstones it in the
  /// index. From its first commit on the thread answers as removed; the space is then freed in
  /// short batches, so that other writers go on. A process that dies in between leaves the rest to
  /// the next one that opens the store for writing. Messages that forks need stay with them.
  RemovedThread remove(const ThreadId& id, const Progress& progress = {});

 private:
  friend class StateStore;
  explicit Threads(std::shared_ptr<state::StoreContext> context);
  std::shared_ptr<state::StoreContext> context_;
};

}  // namespace threadstore
