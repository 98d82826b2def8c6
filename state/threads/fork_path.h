#pragma once

#include <algorithm>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "threadstore/ids.h"

namespace threadstore::state {

struct StoreContext;

/// The ids from one message up to its root. Immutable, and true for as long as the message exists,
/// since parents never change and ids are never used twice.
class ForkPath {
 public:
  /// Where the path ends: at a root or, in a damaged file, below a parent that does not exist or
  /// before a message that it has been at.
  enum class End { root, missing, cycle };

  /// `upward`: the tip first, the root last; empty when the tip does not exist.
  ForkPath(MessageId tip, std::vector<MessageId> upward, End end);

  MessageId tip() const noexcept { return tip_; }
  End end() const noexcept { return end_; }
  const std::vector<MessageId>& upward() const noexcept { return upward_; }
  std::size_t size() const noexcept { return upward_.size(); }
  bool contains(MessageId id) const { return position(id).has_value(); }
  /// The highest id: the tip's own, but not in chains that were back-filled by the clock.
  MessageId newest() const noexcept { return newest_; }
  /// The message of the path whose parent is `id`; nothing for the tip and for strangers.
  std::optional<MessageId> child_of(MessageId id) const;

 private:
  std::optional<std::size_t> position(MessageId id) const;

  MessageId tip_;
  std::vector<MessageId> upward_;
  End end_;
  std::vector<std::size_t> by_id_;  ///< positions by ascending id; empty when `upward_` descends
  MessageId newest_{};
};

/// Follows the parents from `tip` in short snapshots.
ForkPath read_path(StoreContext& context, MessageId tip);

/// The paths of fork points that were asked for lately, so that paging through a fork's inherited
/// history does not climb it for every page. Holds at most a million ids (8 MB). Thread-safe.
class ForkPaths {
 public:
  std::shared_ptr<const ForkPath> path_of(StoreContext& context, MessageId fork_point);

 private:
  std::mutex mutex_;
  std::list<std::shared_ptr<const ForkPath>> recent_;  ///< latest first
};

/// Notices that a walk goes round, in constant memory (Brent): every id is compared with one
/// earlier id, which moves on to the current one after 1, 2, 4, … steps.
class CycleGuard {
 public:
  /// False when the walk has been at `id` before; found within three rounds.
  bool step(MessageId id) {
    if (id == mark_) return false;
    if (++steps_ == lap_) {
      mark_ = id;
      steps_ = 0;
      lap_ *= 2;
    }
    return true;
  }

 private:
  MessageId mark_{};  // no message has id 0
  std::size_t steps_ = 0;
  std::size_t lap_ = 1;
};

}  // namespace threadstore::state
