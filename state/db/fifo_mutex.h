#pragma once

#include <condition_variable>
#include <list>
#include <mutex>

#include "base/deadline.h"

namespace threadstore::db {

/// A mutex that serves the threads of this process in the order of their arrival and waits no
/// longer than a deadline. Thread-safe; not recursive; the thread that locked it unlocks it.
class FifoMutex {
 public:
  FifoMutex() = default;
  FifoMutex(const FifoMutex&) = delete;
  FifoMutex& operator=(const FifoMutex&) = delete;

  /// False when the deadline passed first.
  [[nodiscard]] bool lock(const base::Deadline& deadline);
  void unlock() noexcept;

 private:
  struct Waiter {
    std::condition_variable called;
    bool owns = false;
  };

  std::mutex mutex_;
  bool locked_ = false;         // stays true while it is handed from one thread to the next
  std::list<Waiter*> waiters_;  // each lives on its thread's stack; oldest first
};

}  // namespace threadstore::db
