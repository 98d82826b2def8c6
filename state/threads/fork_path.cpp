#include "state/threads/fork_path.h"

#include <numeric>

#include "state/store_context.h"
#include "state/threads/snapshot_budget.h"

namespace threadstore::state {

ForkPath::ForkPath(MessageId tip, std::vector<MessageId> upward, End end)
    : tip_(tip), upward_(std::move(upward)), end_(end) {
  for (const MessageId id : upward_) newest_ = std::max(newest_, id);
  if (std::is_sorted(upward_.rbegin(), upward_.rend())) return;
  by_id_.resize(upward_.size());
  std::iota(by_id_.begin(), by_id_.end(), std::size_t{0});
  std::sort(by_id_.begin(), by_id_.end(),
            [&](std::size_t a, std::size_t b) { return upward_[a] < upward_[b]; });
}

std::optional<std::size_t> ForkPath::position(MessageId id) const {
  if (by_id_.empty()) {
    const auto at = std::lower_bound(upward_.begin(), upward_.end(), id, std::greater<>());
    if (at == upward_.end() || *at != id) return std::nullopt;
    return static_cast<std::size_t>(at - upward_.begin());
  }
  const auto at = std::lower_bound(
      by_id_.begin(), by_id_.end(), id,
      [&](std::size_t position, MessageId sought) { return upward_[position] < sought; });
  if (at == by_id_.end() || upward_[*at] != id) return std::nullopt;
  return *at;
}

std::optional<MessageId> ForkPath::child_of(MessageId id) const {
  const auto at = position(id);
  if (!at || *at == 0) return std::nullopt;
  return upward_[*at - 1];
}

ForkPath read_path(StoreContext& context, MessageId tip) {
  std::vector<MessageId> upward;
  std::optional<MessageId> next = tip;
  ForkPath::End end = ForkPath::End::root;
  CycleGuard guard;
  while (next) {
    context.read([&](db::Session& session) {
      SnapshotBudget budget;
      do {
        const auto parent =
            session.one("SELECT parent_entry_id FROM messages WHERE id = ?", {*next},
                        [](const db::Row& row) { return row.get<std::optional<MessageId>>(0); });
        if (!parent || !guard.step(*next)) {
          end = parent ? ForkPath::End::cycle : ForkPath::End::missing;
          next.reset();
          return;
        }
        upward.push_back(*next);
        next = *parent;
      } while (next && budget.spend());
    });
  }
  return ForkPath(tip, std::move(upward), end);
}

std::shared_ptr<const ForkPath> ForkPaths::path_of(StoreContext& context, MessageId fork_point) {
  {
    const std::lock_guard lock(mutex_);
    const auto known = std::find_if(recent_.begin(), recent_.end(),
                                    [&](const auto& path) { return path->tip() == fork_point; });
    if (known != recent_.end()) {
      recent_.splice(recent_.begin(), recent_, known);
      return recent_.front();
    }
  }
  auto path = std::make_shared<const ForkPath>(read_path(context, fork_point));
  // Inside a transaction the messages may be rolled back and their ids given out again.
  if (context.database->in_transaction()) return path;
  const std::lock_guard lock(mutex_);
  recent_.push_front(path);
  constexpr std::size_t most_ids = 1'000'000;
  std::size_t ids = 0;
  for (auto kept = recent_.begin(); kept != recent_.end();) {
    ids += (*kept)->size();
    kept = ids > most_ids && kept != recent_.begin() ? recent_.erase(kept) : std::next(kept);
  }
  return path;
}

std::shared_ptr<ForkPaths> make_fork_paths() { return std::make_shared<ForkPaths>(); }

}  // namespace threadstore::state
