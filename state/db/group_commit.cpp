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
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(&call);
  }
  if (leader_.lock(base::Deadline::after(deadline_))) {
    const std::unique_lock lead_here(leader_, std::adopt_lock);
    while (!is_done(call)) lead();
  } else if (withdraw(call)) {
    throw Error(ErrorCode::busy,
                "cannot write to the store: other threads of this process kept it past the "
                "deadline; nothing was changed, try again");
  } else {  // a leader has it, and it ends within that leader's deadline
    std::unique_lock lock(mutex_);
    finished_.wait(lock, [&] { return call.done; });
  }
  if (call.error) std::rethrow_exception(call.error);
}

bool GroupCommit::is_done(const Call& call) {
  const std::lock_guard lock(mutex_);
  return call.done;
}

bool GroupCommit::withdraw(Call& call) {
  const std::lock_guard lock(mutex_);
  return std::erase(waiting_, &call) > 0;
}

GroupCommit::Batch GroupCommit::take_batch() {
  const std::lock_guard lock(mutex_);
  Batch batch;
  std::size_t bytes = 0;
  while (!waiting_.empty() && batch.size() < kMostCalls) {
    bytes += waiting_.front()->bytes;
    if (!batch.empty() && bytes > kMostBytes) break;
    batch.push_back(waiting_.front());
    waiting_.pop_front();
  }
  return batch;
}

void GroupCommit::lead() {
  Batch batch = take_batch();
  run(batch);
  const std::lock_guard lock(mutex_);
  for (Call* call : batch) call->done = true;
  finished_.notify_all();
}

void GroupCommit::run(Batch& batch) {
  if (batch.size() == 1) {
    run_alone(*batch.front());
    return;
  }
  try {
    run_together(batch);
  } catch (const BatchLost&) {
    for (Call* call : batch) {
      if (!call->error) run_alone(*call);
    }
  } catch (const Error& failure) {
    for (Call* call : batch) {
      if (!call->error) call->error = std::make_exception_ptr(Error(failure));
    }
  } catch (...) {
    for (Call* call : batch) {
      if (!call->error) call->error = std::current_exception();
    }
  }
}

void GroupCommit::run_together(Batch& batch) {
  writer_.write([&](Session& session) {
    for (Call* call : batch) call->error = nullptr;  // the transaction may run a second time
    for (Call* call : batch) {
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
