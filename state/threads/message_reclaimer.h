#pragma once

#include <unordered_set>
#include <vector>

#include "state/threads/removal.h"

namespace threadstore::state {

/// Takes a hidden thread's messages away, children before parents: a message that nothing hangs
/// under any more, and no fork starts at, is needed by nobody and deleted. Otherwise it goes to the
/// oldest of those forks, and is then one that their history shows as before.
///
/// Invariants
/// 1. After each batch every surviving fork's path is whole. So the work may stop anywhere, go on
/// in
///    another process, or be done by several at once.
/// 2. What is owned by another thread that is being removed counts as needed, but that thread
///    inherits only when no other can: a fork of it may still need the message.
/// 3. A batch settles at most 200 messages and lasts about 10 ms, however they are chained.
class MessageReclaimer {
 public:
  explicit MessageReclaimer(const Removal& removal) : removal_(removal) {}

  /// Returns how many messages it deleted or handed on.
  std::int64_t settle_batch(db::Session& session);

  /// True when the last batch found nothing left, or the removal finished by another process.
  bool done() const noexcept { return done_; }

 private:
  bool still_wanted(db::Session& session) const;
  std::vector<MessageId> newest_first(db::Session& session) const;
  std::optional<MessageId> hidden_child(db::Session& session, MessageId id) const;
  std::optional<ThreadId> heir(db::Session& session, MessageId id) const;
  std::int64_t settle(db::Session& session, MessageId id, bool forks_exist) const;

  Removal removal_;
  /// From a message down to the descendant that comes first. Longer than 1 only where a child is
  /// older than its parent by the clock; kept between batches, since it may be very long.
  std::vector<MessageId> descent_;
  std::unordered_set<std::int64_t> in_descent_;  ///< ends the descent in a damaged file's cycle
  bool done_ = false;
};

}  // namespace threadstore::state
