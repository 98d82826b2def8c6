#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <vector>

#include "state/db/session.h"
#include "state/db/writer.h"

namespace threadstore::db {

/// Lets writes that several threads make at once share one commit: the disk is asked to flush once
/// for all of them. A thread that comes while nobody leads does: it runs what the others brought,
/// each in a savepoint of its own, and commits; they wait for that, and wake all at once.
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
      : writer_(writer), deadline_(deadline) {
    batch_.reserve(kMostCalls);
  }

  /// `bytes` is about what the body writes. Inside a transaction of this thread: a savepoint of it.
  void write(const Body& body, std::size_t bytes);

 private:
  struct Call {
    const Body& body;
    std::size_t bytes;
    std::exception_ptr error{};
    bool done = false;
  };

  static constexpr std::size_t kMostCalls = 64;
  static constexpr std::size_t kMostBytes = 1 << 20;

  void wait_for_turn(Call& call, std::unique_lock<std::mutex>& lock);
  void lead(std::unique_lock<std::mutex>& lock);
  void take_batch();
  void run_batch();
  void run_together();
  void run_alone(Call& call);

  Writer& writer_;
  const std::chrono::milliseconds deadline_;
  std::mutex mutex_;  // guards what follows and `done` of every call
  std::deque<Call*> waiting_;
  bool led_ = false;
  std::condition_variable changed_;  // calls are done, or nobody leads any more
  std::vector<Call*> batch_;         // the leader's alone
};

}  // namespace threadstore::db
