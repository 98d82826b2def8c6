#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/deadline.h"
#include "state/db/connection.h"
#include "state/db/fifo_mutex.h"
#include "state/db/gate.h"
#include "state/db/session.h"
#include "state/db/store_file.h"
#include "state/db/wal_keeper.h"

namespace threadstore::db {

/// The one connection that writes, and the transaction that is open on it.
///
/// Invariants
/// 1. Locks are taken in this order: the turn among threads, the gate among processes, BEGIN
///    IMMEDIATE; they are given back
/// in the opposite order, on every path.
/// 2. `owner_` is the thread whose transaction is open; only that thread touches what is below it.
/// 3. After a commit whose fate is unknown the connection is thrown away: the next write opens a
///    new one and sees what the disk says.
class Writer {
 public:
  Writer(const StoreFile& file, const Options& options);
  ~Writer();

  /// Runs `body` in a transaction of its own, or in a savepoint of this thread's open one.
  void write(const std::function<void(Session&)>& body);

  bool in_transaction() const noexcept { return owner_.load() == std::this_thread::get_id(); }

  /// Runs `body` inside this thread's open transaction: a read that sees its writes.
  void read_inside(const std::function<void(Session&)>& body);

  void after_commit(std::function<void()> action);

  /// See Database::scrub_wal.
  bool scrub_wal();

 private:
  void run_outermost(const std::function<void(Session&)>& body);
  void run_nested(const std::function<void(Session&)>& body);
  void begin(base::Deadline deadline);
  [[noreturn]] void throw_busy() const;
  void commit();
  void roll_back() noexcept;
  std::unique_lock<FifoMutex> take_turn(base::Deadline deadline);
  Connection& connection();

  const StoreFile& file_;
  const Options& options_;
  FifoMutex turn_;
  std::shared_ptr<WriterGate> gate_;  ///< null for an in-memory store
  std::unique_ptr<Connection> connection_;
  std::unique_ptr<WalKeeper> keeper_;  ///< null where there is no WAL; goes before connection_
  std::atomic<std::thread::id> owner_{};
  int depth_ = 0;
  std::vector<std::function<void()>> after_commit_;
};

}  // namespace threadstore::db
