#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "base/deadline.h"

struct sqlite3;

namespace threadstore::db {

/// A connection and what keeps it open: closed with the last copy.
using ConnectionHandle = std::shared_ptr<sqlite3>;

/// Turns off both ways in which SQLite checkpoints by itself: after a commit, and when the last
/// connection closes. For every reader connection, right after it was opened.
void never_checkpoint(sqlite3* connection);

/// Moves the write-ahead log back into the database, instead of SQLite's automatic checkpoint.
///
/// Most SQLite libraries in use can lose committed pages when a checkpoint runs while another
/// connection's commit resets the WAL (`has_wal_reset_bug`). Hence
///
/// Invariants
/// 1. A checkpoint of ours is PASSIVE, and runs while a second connection of ours holds BEGIN
///    IMMEDIATE: nobody can write, so nobody can reset the WAL meanwhile. Never FULL, RESTART,
///    TRUNCATE: they fall back to an unguarded PASSIVE.
/// 2. It is run by who just committed, while he still holds the writer gate: from outside the
///    write lock is practically never free.
/// 3. When the write lock is not free soon (a foreign writer), there is no checkpoint this time.
///
/// Policy, in frames of the WAL (a frame is a page and 24 bytes):
/// from 1,000 one checkpoint, and not again before 1,000 more, since PASSIVE waits for no reader;
/// from 4,000 a drain: checkpoints until all frames are moved (100 ms at most, 500 ms from 8,000
/// frames), a pause with the write lock held, so that the readers that still use the WAL end, and
/// one commit, which then starts the WAL from its beginning. A drain that readers prevented is not
/// tried again before a quarter (at least 1,000 frames) more was written.
///
/// Who opens the writer connection
/// - makes the keeper before the first write (it takes the place of `wal_autocheckpoint`), calls
///   nothing that sets `sqlite3_wal_hook` or `wal_autocheckpoint` on it later, and destroys the
///   keeper before closing it;
/// - sets `journal_size_limit` 16 MiB on it and on what `open` returns;
/// - calls `never_checkpoint` on every other connection, and closes the writer last: SQLite's
///   checkpoint at its close is safe, for it holds the exclusive lock.
///
/// Not thread-safe: used by who holds the turn of the writer connection.
class WalKeeper {
 public:
  using Open = std::function<ConnectionHandle()>;
  using Warn = std::function<void(const std::string&)>;

  /// `open` makes a further connection to the same file, configured like the writer; it is called
  /// at the first checkpoint, and its busy handler is replaced. `warn` hears, at most once per
  /// doubling, that the WAL passed 64 MiB and who keeps it from shrinking.
  WalKeeper(sqlite3* writer, std::filesystem::path database, Open open, Warn warn);
  ~WalKeeper();
  WalKeeper(const WalKeeper&) = delete;
  WalKeeper& operator=(const WalKeeper&) = delete;

  /// Right after a COMMIT of the writer connection, with the gate held and no statement open.
  /// Costs nothing below 1,000 frames. Never throws: the commit is done, and a checkpoint that
  /// fails loses nothing. Goes past `deadline` by 100 ms at most.
  void after_commit(const base::Deadline& deadline) noexcept;

  /// Drains the WAL and cuts its file, so that deleted text is not in it any more. With the gate
  /// held and no transaction open. False when readers or a foreign writer prevented it.
  bool scrub(const base::Deadline& deadline) noexcept;

  /// The length of the WAL after our last commit.
  int frames() const noexcept { return frames_; }

 private:
  using Clock = base::Deadline::Clock;
  class WriteLock;
  struct Progress {
    bool complete = false;
    int frames = 0;  // in the WAL; -1: the database is not in WAL mode
  };

  static int remember_frames(void* self, sqlite3*, const char*, int frames);
  sqlite3* guard();
  Progress checkpoint();
  Progress checkpoint_until_complete(Clock::time_point end);
  bool drain(Clock::time_point end);
  bool commit_nothing();
  bool file_is_cut() const;
  void warn_when_large();
  void report(const std::string& message) noexcept;

  sqlite3* const writer_;
  const std::filesystem::path database_;
  const Open open_;
  const Warn warn_;
  ConnectionHandle guard_;
  int frames_ = 0;           // told by the hook
  int attempted_at_ = 0;     // frames_ at the last attempt
  int not_before_ = 0;       // frames_ of the next attempt, unless the WAL was reset
  std::int64_t warn_above_;  // bytes
  bool failure_told_ = false;
};

}  // namespace threadstore::db
