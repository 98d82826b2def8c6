#pragma once

#include <atomic>

#include "state/store_context.h"

namespace threadstore::state {

/// The feed from the table `index_outbox` to the session index.
///
/// Invariants
/// 1. A row is written in the transaction of the change that it is about, and deleted only after
///    its line is in the index and synced: a crash in between costs a line written twice. Lines are
///    synced together, at the latest the 64th: what a change waits for is its commit alone.
/// 2. Rows are read under the index's lock. Whoever appends last has read last, so a thread's last
///    line never says less than the database did when any earlier line was made.
/// 3. A row without a visible thread becomes a tombstone.
/// Rows whose line is synced go with the next write, or when the store closes.
/// Thread-safe.
class IndexOutbox final : public IndexFeed {
 public:
  /// `context` owns this object and outlives it.
  explicit IndexOutbox(StoreContext& context) : context_(context) {}
  ~IndexOutbox() override;

  void at_write(db::Session& session) override;
  bool drain(std::optional<base::Deadline> deadline) noexcept override;
  std::int64_t appended_up_to() const noexcept override { return appended_up_to_; }

 private:
  bool drain_batch(std::chrono::milliseconds deadline);
  void sync(std::chrono::milliseconds deadline);

  StoreContext& context_;
  std::atomic<std::int64_t> appended_up_to_{0};
  std::atomic<std::int64_t> synced_up_to_{0};
  std::atomic<std::size_t> unsynced_lines_{0};
};

/// Rows whose line is not known to be in the index. Without a feed that is all of them.
std::int64_t index_backlog(StoreContext& context);

}  // namespace threadstore::state
