#include "state/db/group_commit.h"

#include <algorithm>

#include "threadstore/error.h"

namespace threadstore::db {
namespace {

/// Thrown through the batch's transaction when SQLite has rolled it back already.
struct BatchLost {};

}  // namespace

void GroupCommit::write(const Body& body, std::size_t bytes) {
  if (writer_.in_transaction()) {
    writer_.write(body);
    return;
  }
  Call call{body, bytes};
  std::unique_lock lock(mutex_);
  waiting_.push_back(&call);
  wait_for_turn(call, lock);
  if (!call.done) {
    led_ = true;
    while (!call.done) lead(lock);
    led_ = false;
    changed_.notify_all();
  }
  if (call.error) std::rethrow_exception(call.error);
}

/// Until the call is done or its thread has to lead.
void GroupCommit::wait_for_turn(Call& call, std::unique_lock<std::mutex>& lock) {
  const auto deadline = base::Deadline::after(deadline_);
  if (changed_.wait_until(lock, deadline.at(), [&] { return call.done || !led_; })) return;
  if (std::erase(waiting_, &call) > 0) {
    throw Error(ErrorCode::busy,
                "cannot write to the store: other threads of this process kept it past the "
                "deadline; nothing was changed, try again");
  }
  // A leader has it, and it ends within that leader's deadline.
  changed_.wait(lock, [&] { return call.done; });
}

void GroupCommit::take_batch() {
  batch_.clear();
  std::size_t bytes = 0;
  while (!waiting_.empty() && batch_.size() < kMostCalls) {
    bytes += waiting_.front()->bytes;
    if (!batch_.empty() && bytes > kMostBytes) break;
    batch_.push_back(waiting_.front());
    waiting_.pop_front();
  }
}

void GroupCommit::lead(std::unique_lock<std::mutex>& lock) {
  take_batch();
  lock.unlock();
  run_batch();
  lock.lock();
  for (Call* call : batch_) call->done = true;
  changed_.notify_all();
}

void GroupCommit::run_batch() {
  if (batch_.size() == 1) {
    run_alone(*batch_.front());
    return;
  }
  try {
    run_together();
  } catch (const BatchLost&) {
    for (Call* call : batch_) {
      if (!call->error) run_alone(*call);
    }
  } catch (const Error& failure) {
    for (Call* call : batch_) {
      if (!call->error) call->error = std::make_exception_ptr(Error(failure));
    }
  } catch (...) {
    for (Call* call : batch_) {
      if (!call->error) call->error = std::current_exception();
    }
  }
}

void GroupCommit::run_together() {
  writer_.write([&](Session& session) {
    for (Call* call : batch_) call->error = nullptr;  // the transaction may run a second time
    for (Call* call : batch_) {
      try {
        writer_.write(call->body);
      } catch (...) {
        call->error = std::current_exception();
        if (session.rolled_back()) throw BatchLost();
      }
    }
  });
}

void GroupCommit::run_alone(Call& call) {
  try {
    writer_.write(call.body);
  } catch (...) {
    call.error = std::current_exception();
  }
}

}  // namespace threadstore::db
