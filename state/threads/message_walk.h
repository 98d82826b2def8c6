#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "state/db/keyed_query.h"
#include "state/threads/fork_path.h"
#include "state/threads/view.h"
#include "threadstore/messages.h"

namespace threadstore::state {

/// Walks a branch from one message towards the root, one step of a query a message: faster than a
/// recursive query, which sorts, and it stops where the caller has enough. Checks what a sound file
/// guarantees: that parents exist, that the walk ends, that only forks cross to another owner.
class MessageWalk {
 public:
  /// Reads messages within one snapshot. A parent is mostly the row before its child's, as nobody
  /// wrote in between: there the query goes on instead of searching from the top.
  class Reader {
   public:
    explicit Reader(db::Session& session);

   private:
    friend class MessageWalk;
    /// The row of that message; false when there is none.
    bool find(MessageId id);

    db::Session& session_;
    db::KeyedQuery query_;
    std::optional<MessageId> at_;  ///< the query's row
  };

  MessageWalk(ThreadId thread, std::optional<MessageId> from)
      : thread_(std::move(thread)), owner_(thread_.str()), next_(from) {}

  /// Adds the message that the walk is at, shown in its thread, to `messages`; false past the root.
  bool read(Reader& reader, std::vector<Message>& messages);

  /// To be called at the start of each further snapshot, with the view of the first: throws
  /// `conflict` when the thread was removed or cleared since.
  void resume(db::Session& session, const View& start);

  std::optional<MessageId> next() const noexcept { return next_; }
  /// True when a parent's id was above its child's, which every cycle needs and a branch has only
  /// when it was back-filled by the clock.
  bool went_up() const noexcept { return went_up_; }

 private:
  ThreadId thread_;
  std::string owner_;  ///< of the message read last
  std::optional<MessageId> last_;
  std::optional<MessageId> next_;
  CycleGuard guard_;
  bool went_up_ = false;
};

/// Hands the messages from `from` to the root to `take`, newest first, at most `most`, read in
/// short snapshots; `take` runs with nothing open and ends the walk with false. Without `from`: the
/// current leaf. What `from` names must be known to be in the thread's view. Returns the parent of
/// the last message that was taken.
std::optional<MessageId> walk_branch(StoreContext& context, const ThreadId& thread,
                                     std::optional<MessageId> from, std::size_t most,
                                     const std::function<bool(Message&&)>& take);

}  // namespace threadstore::state
