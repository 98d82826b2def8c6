#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "threadstore/ids.h"
#include "threadstore/leases.h"
#include "threadstore/page.h"
#include "threadstore/time.h"

namespace threadstore {

namespace state {
struct StoreContext;
}

/// A named snapshot of a thread: a row of `checkpoints`.
struct Checkpoint {
  ThreadId thread_id{};
  CheckpointId checkpoint_id{};
  std::string state{};                 ///< any JSON value, as the writer gave it, byte for byte
  UnixSeconds created_at = 0;          ///< of the last save; never before that of an earlier save
  std::optional<MessageId> leaf_id{};  ///< the current leaf when it was saved
  /// True when `restore` can go back: the leaf was remembered, or the thread was empty then (no
  /// `leaf_id`). False for checkpoints that another program saved.
  bool restorable = false;
  bool state_damaged = false;  ///< `state` is not valid JSON; its raw text is given (`list` only)

  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

struct NewCheckpoint {
  CheckpointId id{};
  std::string state = "{}";   ///< JSON text, nesting depth at most 200, at most 64 MiB
  bool remember_leaf = true;  ///< so that `restore` can bring the conversation back here
};

struct CheckpointFilter {
  std::size_t limit = 100;             ///< 1 to 1,000; a page also ends once its states pass 64 MiB
  std::optional<std::string> after{};  ///< a page's `next`
};

/// The checkpoints of a store's threads. A light handle like `Threads`; every call is atomic.
/// Damaged JSON in a stored state is `damaged`, naming the checkpoint, and hurts no other.
class Checkpoints {
 public:
  /// Inserts or overwrites the checkpoint of that id. It becomes the latest of its thread, within
  /// one second and with a clock that went back too. Throws `not_found` for a missing thread,
  /// `invalid_argument` for an empty id or a state that is not valid JSON.
  Checkpoint save(const ThreadId& thread, const NewCheckpoint& checkpoint);

  std::optional<Checkpoint> find(const ThreadId& thread, const CheckpointId& id) const;
  Checkpoint get(const ThreadId& thread, const CheckpointId& id) const;
  /// The one that was saved last, by this program or another.
  std::optional<Checkpoint> latest(const ThreadId& thread) const;

  /// The one saved last first. Damaged ones are flagged. Throws `not_found` for a missing thread.
  Page<Checkpoint> list(const ThreadId& thread, const CheckpointFilter& filter = {}) const;

  /// Switches the thread's active branch to the leaf that the checkpoint remembers, and gives the
  /// checkpoint. Deletes nothing. Throws `not_found`, changing nothing, when the thread, the
  /// checkpoint or the remembered message is gone; `invalid_argument` when it remembers none.
  Checkpoint restore(const ThreadId& thread, const CheckpointId& id,
                     const std::optional<LeaseToken>& lease = {});

  /// Says whether it was there.
  bool remove(const ThreadId& thread, const CheckpointId& id);

 private:
  friend class StateStore;
  explicit Checkpoints(std::shared_ptr<state::StoreContext> context);
  std::shared_ptr<state::StoreContext> context_;
};

}  // namespace threadstore
