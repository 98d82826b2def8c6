#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <vector>

#include "state/db/fifo_mutex.h"
#include "state/db/session.h"
#include "state/db/writer.h"

namespace threadstore::db {

/// Lets writes that several threads make at once share one commit: the disk is asked to flush once
/// for all of them. The first thread in leads: it runs what the others brought, each in a savepoint
/// of its own, and commits; the others wait for that.
///
/// Invariants
/// 1. A call returns only when its own body is durable, or throws what its own body threw.
/// 2. Bodies run in the order of their calls, one at a time, on the leader's thread.
/// 3. A batch takes what is there (at most 64 calls or 1 MiB) and never waits to fill.
/// 4. When SQLite rolled the whole batch back because of one body, the others run again, each in a
///    transaction of its own. An error of the commit itself is every call's error.
/// Thread-safe.
class GroupCommit {
 public:
  using Body = std::function<void(Session&)>;

  GroupCommit(Writer& writer, std::chrono::milliseconds deadline)
      : writer_(writer), deadline_(deadline) {}

  /// `bytes` is about what the body writes. Inside a transaction of this thread: a savepoint of it.
  void write(const Body& body, std::size_t bytes);

 private:
  struct Call {
    const Body& body;
    std::size_t bytes;
    std::exception_ptr error{};
    bool done = false;
  };
  using Batch = std::vector<Call*>;

  static constexpr std::size_t kMostCalls = 64;
  static constexpr std::size_t kMostBytes = 1 << 20;

  void lead();
  Batch take_batch();
  void run(Batch& batch);
  void run_together(Batch& batch);
  void run_alone(Call& call);
  bool withdraw(Call& call);
  bool is_done(const Call& call);

  Writer& writer_;
  const std::chrono::milliseconds deadline_;
  FifoMutex leader_;
  std::mutex mutex_;  // guards what follows and `done` of every call
  std::deque<Call*> waiting_;
  std::condition_variable finished_;
};

}  // namespace threadstore::db
