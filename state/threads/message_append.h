#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "state/store_context.h"
#include "state/threads/fork_path.h"
#include "threadstore/messages.h"

namespace threadstore::state {

/// One call that adds messages, checked and ready for the transaction. Refers to the caller's
/// arguments: it must not outlive them.
struct AppendCall {
  const ThreadId& thread;
  std::span<const NewMessage> messages;  ///< a chain: each is the parent of the next
  const AppendOptions& options;
  std::optional<MessageId> parent{};  ///< `branch_at`; absent: under the current leaf
  UnixSeconds now = 0;
  std::string request_hash{};  ///< only with a key
  /// For a named message that is not the thread's own (see `path_to_judge`).
  std::shared_ptr<const ForkPath> path{};
};

/// Checks the arguments and does all that can be done before the write lock is taken.
AppendCall prepare_append(StoreContext& context, const ThreadId& thread,
                          std::span<const NewMessage> messages, const AppendOptions& options,
                          std::optional<MessageId> parent = {});

/// The work of one call inside a write transaction: reads the leaf, checks lease, key and
/// expectation, stores the messages and moves leaf and `updated_at`. Writes nothing when it throws
/// before the first insert; later failures are undone by the transaction or savepoint around it.
/// Calls of several threads may share a transaction, in the order of their coming.
AppendedMany append_in(db::Session& session, const AppendCall& call);

}  // namespace threadstore::state
