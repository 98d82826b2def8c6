#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "state/db/database.h"
#include "threadstore/session_index.h"
#include "threadstore/time.h"

namespace threadstore::state {

/// What the groups of one store share. Made by `state_store.cpp`, which alone composes the parts.
struct StoreContext {
  std::shared_ptr<db::Database> database;
  std::unique_ptr<SessionIndex> index;  ///< null for an in-memory store
  Clock clock;
  std::chrono::milliseconds deadline{5000};
  std::function<void(const std::string&)> notice;
  /// Appends the index lines that `index_outbox` holds; false when the index is not free. Set by
  /// `state_store.cpp`, called after commits that queued lines. Never throws.
  std::function<bool()> drain_outbox;

  UnixSeconds now_seconds() const { return clock() / 1000; }
  UnixMillis now_millis() const { return clock(); }
};

}  // namespace threadstore::state
