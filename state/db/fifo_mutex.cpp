#include "state/db/fifo_mutex.h"

namespace threadstore::db {

bool FifoMutex::lock(const base::Deadline& deadline) {
  std::unique_lock guard(mutex_);
  if (!locked_) {
    locked_ = true;
    return true;
  }
  Waiter self;
  const auto place = waiters_.insert(waiters_.end(), &self);
  if (self.called.wait_until(guard, deadline.at(), [&] { return self.owns; })) return true;
  waiters_.erase(place);
  return false;
}

void FifoMutex::unlock() noexcept {
  const std::lock_guard guard(mutex_);
  if (waiters_.empty()) {
    locked_ = false;
    return;
  }
  Waiter* const next = waiters_.front();
  waiters_.pop_front();
  next->owns = true;
  next->called.notify_one();  // under the mutex: the waiter must not leave before
}

}  // namespace threadstore::db
