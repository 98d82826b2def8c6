#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "base/deadline.h"
#include "state/db/database.h"
#include "threadstore/ids.h"
#include "threadstore/session_index.h"
#include "threadstore/time.h"

namespace threadstore::state {

class ForkPaths;
class LeaseFile;

std::shared_ptr<ForkPaths> make_fork_paths();

/// Keeps the session index in step with the database: the rows of `index_outbox` become its lines.
class IndexFeed {
 public:
  virtual ~IndexFeed() = default;

  /// At the start of a write: forgets the rows that reached the index, and arranges that rows which
  /// another process could not bring in are tried again after the commit.
  virtual void at_write(db::Session& session) = 0;

  /// Appends what waits. It waits for the index's lock until the deadline, without one it only
  /// tries. False, and with a deadline a logged warning, when lines still wait. Outside of
  /// transactions only: it holds the index's lock while it reads.
  virtual bool drain(std::optional<base::Deadline> deadline) noexcept = 0;

  /// Every row of `index_outbox` up to this number is in the index.
  virtual std::int64_t appended_up_to() const noexcept = 0;
};

/// What a higher module hangs on threads, so that a removal takes it along.
class ThreadBelongings {
 public:
  virtual ~ThreadBelongings() = default;

  virtual std::int64_t count(db::Session& session, const ThreadId& thread) const = 0;

  /// Deletes some of it in a short transaction. False when nothing is left.
  virtual bool remove_batch(db::Session& session, const ThreadId& thread) const = 0;
};

/// What the groups of one store share. Made by `state_store.cpp`, which alone composes the parts.
struct StoreContext {
  std::filesystem::path file;          ///< the store's; `database` may be a private copy of it
  std::shared_ptr<void> private_copy;  ///< removed after the database is closed
  std::shared_ptr<db::Database> database;
  std::unique_ptr<SessionIndex> index;  ///< null for an in-memory store
  Clock clock;
  std::chrono::milliseconds deadline{5000};
  std::size_t run_content_limit = 0;
  std::function<void(const std::string&)> notice;
  std::shared_ptr<LeaseFile> leases;
  std::unique_ptr<IndexFeed> feed;  ///< null when there is no index to write
  std::unique_ptr<ThreadBelongings> runs;
  std::shared_ptr<ForkPaths> fork_paths = make_fork_paths();
  /// Takes deleted messages out of the search index; false when their text lingers there. Never
  /// throws. Outside of transactions only. Empty when there is no index to write.
  std::function<bool()> forget_in_search;

  UnixSeconds now_seconds() const { return clock() / 1000; }
  UnixMillis now_millis() const { return clock(); }

  template <class Body>
  auto read(Body&& body) {
    return database->read(std::forward<Body>(body));
  }

  /// What every group writes with: `Database::write`, which also takes care of the index feed.
  template <class Body>
  auto write(Body&& body) {
    const bool outermost = feed && !database->in_transaction();
    return database->write([&](db::Session& session) {
      if (outermost) feed->at_write(session);
      return body(session);
    });
  }

  /// The same for a short write that may share its commit with other threads' (group commit).
  template <class Body>
  auto write_shared(std::size_t bytes, Body&& body) {
    const bool outermost = feed && !database->in_transaction();
    return database->write_shared(bytes, [&](db::Session& session) {
      if (outermost) feed->at_write(session);
      return body(session);
    });
  }
};

}  // namespace threadstore::state
