#pragma once

#include "state/store_context.h"

namespace threadstore::state {

/// Runs go with their thread, in batches as its messages do: deleting a run of 100,000 events in
/// one statement would hold the write lock for seconds.
class RunsOfThreads final : public ThreadBelongings {
 public:
  std::int64_t count(db::Session& session, const ThreadId& thread) const override;
  bool remove_batch(db::Session& session, const ThreadId& thread) const override;
};

}  // namespace threadstore::state
