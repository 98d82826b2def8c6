#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "threadstore/ids.h"
#include "threadstore/leases.h"
#include "threadstore/threads.h"
#include "threadstore/time.h"

namespace threadstore {

/// One entry of a thread's message tree.
struct Message {
  MessageId id{};
  ThreadId thread_id;  ///< the thread in whose view it was read (`watch` over all: its owner)
  std::string role;
  std::string content;              ///< valid UTF-8; NUL characters allowed
  std::optional<std::string> item;  ///< any JSON value, as the writer gave it, byte for byte
  UnixSeconds created_at = 0;
  std::optional<MessageId> parent_entry_id;  ///< absent for a root
  bool item_damaged = false;                 ///< `item` is not valid JSON; its raw text is given
  bool checksum_mismatch = false;            ///< the bytes are not those that were stored

  friend bool operator==(const Message&, const Message&) = default;
};

struct NewMessage {
  std::string role{};
  std::string content{};
  std::optional<std::string> item{};        ///< JSON text, nesting depth at most 200
  std::optional<UnixSeconds> created_at{};  ///< default: now (importers set it)
};

/// The leaf that the caller saw when it decided to write; absent: it saw an empty thread.
struct ExpectedLeaf {
  std::optional<MessageId> leaf;
};

/// What to do when the current leaf is not the expected one.
enum class OnConflict {
  fail,    ///< write nothing, throw `conflict`
  branch,  ///< store under the expected leaf; the current leaf does not move
};

struct AppendOptions {
  std::optional<ExpectedLeaf> expected_leaf{};
  OnConflict on_conflict = OnConflict::fail;
  std::optional<std::string> key{};   ///< idempotency key, 1 to 200 bytes
  std::optional<LeaseToken> lease{};  ///< refused with `conflict` when its generation is stale
};

struct Appended {
  MessageId id{};
  ThreadId thread_id;
  std::optional<MessageId> parent_entry_id;
  bool branched = false;  ///< stored beside the active branch; `current_leaf_id` is the other tip
  bool replayed = false;  ///< the key was seen before: this is the first answer again
  std::optional<MessageId> current_leaf_id;

  friend bool operator==(const Appended&, const Appended&) = default;
};

/// The answer of `append_many`: `last` describes the last message, `ids` all of them in order.
struct AppendedMany {
  std::vector<MessageId> ids;
  Appended last;
};

struct BranchQuery {
  std::optional<MessageId> leaf{};    ///< default: the current leaf
  std::optional<MessageId> before{};  ///< end at this message's parent (pages towards the root)
  std::size_t limit = 500;            ///< counts from the leaf backwards; at least 1
};

struct BranchPage {
  std::vector<Message> messages;  ///< oldest first
  bool more = false;              ///< older ones exist: pass the first one's id as `before`
};

/// A message of a tree without its text: enough to draw, cheap for 100,000.
struct TreeNode {
  MessageId id{};
  std::optional<MessageId> parent_entry_id;
  std::string role;
  std::string preview;  ///< the first 80 characters of the content's first line
  UnixSeconds created_at = 0;
  std::vector<MessageId> children;
  bool is_current_leaf = false;
};

/// A message that is not what was stored.
struct DamagedMessage {
  MessageId id{};
  ThreadId thread_id{};  ///< its owner
  bool item_damaged = false;
  bool checksum_mismatch = false;

  friend bool operator==(const DamagedMessage&, const DamagedMessage&) = default;
};

struct ClearedThread {
  std::int64_t deleted = 0;      ///< messages that left the thread's view
  bool text_may_linger = false;  ///< see RemovedThread
};

/// The message trees of a store. A light handle like `Threads`. A thread's *view* is its own
/// messages and, when it was forked, the path from the fork point to the root: every call below
/// answers within the view. A thread or message outside is `not_found`. Writes are atomic and
/// durable when they return; content that is not valid UTF-8 is `invalid_argument` with the offset.
class Messages {
 public:
  /// Adds a message under the current leaf and makes it the current leaf.
  Appended append(const ThreadId& thread, const NewMessage& message,
                  const AppendOptions& options = {});

  /// A chain of messages in one commit: all or none. The expected leaf and the key are those of the
  /// whole batch. An empty batch is `invalid_argument`.
  AppendedMany append_many(const ThreadId& thread, const std::vector<NewMessage>& messages,
                           const AppendOptions& options = {});

  /// A message under `parent`, whatever the current leaf; it becomes the current leaf.
  Appended branch_at(const ThreadId& thread, MessageId parent, const NewMessage& message,
                     const AppendOptions& options = {});

  /// Switches the active branch. None: the next append starts a new root.
  void set_current_leaf(const ThreadId& thread, std::optional<MessageId> leaf,
                        const std::optional<LeaseToken>& lease = {});

  /// Empties the thread's view in one commit; space is freed in batches as in `Threads::remove`.
  ClearedThread clear(const ThreadId& thread, const Progress& progress = {});

  std::optional<Message> find(const ThreadId& thread, MessageId id) const;
  Message get(const ThreadId& thread, MessageId id) const;

  /// The message that the idempotency key was first given with (of a batch: its last); nothing for
  /// a key that the thread does not know. The key outlives its message.
  std::optional<MessageId> find_by_key(const ThreadId& thread, const std::string& key) const;
  /// The key that the thread's message was stored with; nothing when there was none.
  std::optional<std::string> key_of(const ThreadId& thread, MessageId id) const;

  /// A part of the branch that ends at the query's leaf, oldest first; empty for an empty thread.
  BranchPage list(const ThreadId& thread, const BranchQuery& query = {}) const;

  /// Every message from the leaf to the root, newest first, in bounded memory and short
  /// snapshots; stops when `visit` returns false. Throws `conflict` when one vanished meanwhile.
  void walk(const ThreadId& thread, std::optional<MessageId> leaf,
            const std::function<bool(const Message&)>& visit) const;

  /// Messages that no message of the view names as parent, by id.
  std::vector<Message> leaves(const ThreadId& thread) const;
  std::vector<Message> children(const ThreadId& thread, MessageId parent) const;
  std::vector<Message> path_from_root(const ThreadId& thread, MessageId id) const;
  /// Number of messages from the root to `id`, both included.
  std::int64_t depth(const ThreadId& thread, MessageId id) const;
  /// All messages of the view, parents before children, by id.
  std::vector<TreeNode> tree(const ThreadId& thread) const;
  /// How many messages the view has.
  std::int64_t count(const ThreadId& thread) const;

  /// Messages with an id above `id`, oldest first, at most `limit`: of one thread's view or,
  /// without a thread, of all (then `thread_id` is the owner). Ids grow in commit order.
  std::vector<Message> since(std::optional<ThreadId> thread, MessageId id,
                             std::size_t limit = 1000) const;
  /// Reads every message of the store, in short snapshots, and names those whose bytes are not what
  /// was stored, by id. Messages of other programs carry no checksum: only their items are checked.
  std::vector<DamagedMessage> find_damaged(const Progress& progress = {}) const;
  /// The highest id in the store; 0 when it has no message.
  MessageId newest_id() const;

 private:
  friend class StateStore;
  friend class Checkpoints;
  explicit Messages(std::shared_ptr<state::StoreContext> context);
  std::shared_ptr<state::StoreContext> context_;
};

/// Replaces every invalid UTF-8 sequence by U+FFFD. `replaced` counts them when given.
std::string to_valid_utf8(std::string_view bytes, std::size_t* replaced = nullptr);

}  // namespace threadstore
