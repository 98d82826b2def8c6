#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/chat/responder.h"
#include "threadstore/state_store.h"

namespace threadstore::cli {

/// The name under which a chat holds its thread.
inline constexpr const char* chat_program = "threadstore chat";

/// What a thread starts with when its first line comes.
struct SessionStart {
  std::optional<std::string> name{};
  std::string cwd{};
  std::string cli_version{};
  bool ephemeral = false;  ///< the store is a private one in memory: no lease
};

/// A stored message. `other_tip` says that it became a branch: somebody else had written meanwhile,
/// and the thread's active branch ends there.
struct Stored {
  MessageId id{};
  std::optional<MessageId> other_tip{};
};

/// The thread that a chat works on, its lease, and the leaf that the user sees.
///
/// 1. A thread is made with its first message, in one commit: an unused chat leaves nothing behind.
/// 2. Every write carries the lease and the leaf that the user saw; a message written elsewhere in
///    between makes ours a branch, and we stay on it.
/// 3. The thread says `running` exactly while the lease is held; `close` gives both back. A process
///    that dies leaves them to whoever looks next: interrupted.
class ConversationSession {
 public:
  ConversationSession(StateStore store, SessionStart start);
  ~ConversationSession();
  ConversationSession(const ConversationSession&) = delete;
  ConversationSession& operator=(const ConversationSession&) = delete;

  /// Continues a thread. Throws `conflict` when somebody alive holds it, unless `take_over`. The
  /// thread worked on before is given back first. Returns true when its last holder died in it.
  bool open(const ThreadId& thread, bool take_over = false);

  /// Gives the thread back: idle, no lease. The next message starts a new one.
  void close();

  bool has_thread() const noexcept { return thread_.has_value(); }
  const ThreadId& id() const { return thread_.value(); }
  Thread thread() const { return store_.threads().get(id()); }
  /// The thread's name, or the one that it will have.
  std::optional<std::string> name() const;
  std::optional<MessageId> leaf() const noexcept { return leaf_; }

  /// Stores a message. Throws `conflict` when the lease was taken over (`taken_over`) or the leaf
  /// is gone, `not_found` when the thread is.
  /// `also` runs in the same commit.
  Stored append(const NewMessage& message, const std::function<void(MessageId)>& also = {});
  bool holds_lease() const { return lease_ && lease_->still_held(); }
  /// Whether another process took the thread over.
  bool taken_over() const;
  /// After that: goes on without a lease, on a branch beside what the new holder writes.
  void continue_beside();
  /// After the leaf vanished (the thread was cleared): goes on at the current one.
  void reload_leaf();

  /// Forks a thread at a message, or at its current leaf; the fork becomes the session's thread.
  void open_fork(const ThreadId& source, std::optional<MessageId> at);
  /// Makes a message, or none, the end of the active branch.
  void switch_to(std::optional<MessageId> leaf);
  /// Goes back to where a checkpoint was saved.
  Checkpoint restore(const CheckpointId& checkpoint);
  void rename(const std::string& name);

  /// The messages of our branch, oldest first: all, or the last ones.
  Conversation conversation() const;
  BranchPage last_messages(std::size_t limit) const;

 private:
  Stored begin(const NewMessage& message, const std::function<void(MessageId)>& also);
  void hold(Lease lease);
  std::optional<LeaseToken> token() const;

  StateStore store_;
  SessionStart start_;
  std::optional<ThreadId> thread_;
  std::optional<Lease> lease_;
  std::optional<MessageId> leaf_;
};

}  // namespace threadstore::cli
