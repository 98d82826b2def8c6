#pragma once

#include <limits>
#include <memory>
#include <optional>

#include "state/db/session.h"
#include "state/threads/fork_path.h"
#include "threadstore/ids.h"
#include "threadstore/time.h"

namespace threadstore::state {

/// Nothing of a thread that is being removed is shown; all of its ids are up to this one.
inline constexpr std::int64_t every_id = std::numeric_limits<std::int64_t>::max();

/// What a thread shows, as its rows say in one transaction: its own messages above `hidden_up_to`,
/// and the path from its fork point to the root, whoever owns that.
///
/// Invariants
/// 1. A message keeps its parent for ever, and a thread its fork point until it is cleared. So the
///    path of a fork point never changes; only its owners do, when threads are removed.
/// 2. Every message of that path was there before the thread: the thread's later messages have
///    higher ids than all of the path, and what it owns below is re-homed path.
/// 3. A message whose parent has another owner belongs to a fork. Anything else is damage.
struct View {
  ThreadId thread;
  std::optional<MessageId> stored_leaf;  ///< as the row says
  bool leaf_missing = false;             ///< no message has that id
  UnixSeconds updated_at = 0;
  MessageId hidden_up_to{};  ///< own messages up to here were cleared; their rows may linger
  std::optional<MessageId> fork_point;
};

/// Nothing when the thread does not exist or is being removed.
std::optional<View> find_view(db::Session& session, const ThreadId& thread);
/// Throws `not_found`.
View open_view(db::Session& session, const ThreadId& thread);

/// The tip of the active branch. A leaf that another program deleted together with all of the
/// thread's messages counts as none; otherwise a missing leaf is `damaged`.
std::optional<MessageId> current_leaf(db::Session& session, const View& view);

/// Whether the view has the message. `path`: that of the view's fork point, read beforehand (see
/// `path_to_judge`); without it only own messages and the fork point itself are recognised.
bool shows(db::Session& session, const View& view, MessageId id, const ForkPath* path);

/// What `shows` needs to judge the message: the fork's path when the message is another owner's,
/// else null. Reading a long path takes many short snapshots: call this before the write. Says
/// nothing of a thread that does not exist.
std::shared_ptr<const ForkPath> path_to_judge(StoreContext& context, const ThreadId& thread,
                                              MessageId id);

/// Throws `not_found` unless the thread's view has the message.
void require_shown(StoreContext& context, const ThreadId& thread, MessageId id);
[[noreturn]] void throw_no_message(const ThreadId& thread, MessageId id);

/// A view whose reading takes several snapshots, as of its first one. In the order of their ids:
/// the fork's path, then the thread's own messages above `floor`, up to `newest` (invariant 2).
struct ViewExtent {
  View view;
  std::shared_ptr<const ForkPath> path;  ///< null when the thread inherits nothing
  MessageId floor{};
  MessageId newest{};
  /// An own message: gone or another's when the thread was cleared in between.
  std::optional<MessageId> witness;

  /// To be called in each further snapshot: throws `conflict` when messages have left the view.
  void check_unchanged(db::Session& session) const;
};

ViewExtent extent_of(StoreContext& context, const ThreadId& thread);

/// How many messages the extent's view has.
std::int64_t count_shown(db::Session& session, const ViewExtent& extent);

}  // namespace threadstore::state
