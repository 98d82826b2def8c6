#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "threadstore/goals.h"
#include "threadstore/messages.h"
#include "threadstore/threads.h"
#include "threadstore/tools.h"

namespace threadstore::exchange {

// What every reader turns its file into: a session, its messages, its end.

/// A message with the name that its source gives it.
struct MessageRecord {
  /// Unique in the session and the same at every import: the idempotency key.
  std::string key{};
  /// The key of the message that it answers; absent: the session's beginning.
  std::optional<std::string> parent{};
  /// It answers nothing, not even what its session inherited.
  bool is_root = false;
  /// A key under which an earlier import may have stored it.
  std::optional<std::string> former_key{};
  /// The key under which the session that this one was copied from has it; default: `key`.
  std::optional<std::string> origin_key{};
  /// The number that it already has if the thread was not imported but is its own home.
  std::optional<MessageId> native_id{};
  NewMessage message{};
  std::int64_t line = 0;  ///< for reports; 0: none
};

/// Where a session was forked from.
struct Origin {
  ThreadId thread{};
  /// The fork point's key there. Absent: the session begins with a copy of its source, and the fork
  /// point is the last message that is the same in both.
  std::optional<std::string> at{};
};

struct SessionRecord {
  std::string source{};     ///< "codex"
  std::string source_id{};  ///< as the source calls it
  /// `id` is set by the writer unless the source's id is to be taken as it is.
  NewThread thread{};
  std::optional<Origin> origin{};
  /// What the source says of the session as a whole, kept as its first message.
  std::optional<MessageRecord> header{};
};

/// A named snapshot of a session. One that the thread has already is left as it is.
struct CheckpointRecord {
  std::string id{};
  std::string state{};                ///< JSON
  std::optional<std::string> leaf{};  ///< key of the message where the conversation was
};

/// What is known of a session once it was read. Only a new thread takes it, but for the leaf, which
/// moves when there was something new and nobody continued the thread here.
struct SessionEnd {
  std::optional<std::string> leaf{};  ///< key of the active branch's tip; absent: the last message
  std::optional<std::string> name{};
  ThreadPatch late{};  ///< what its first lines did not tell
  std::optional<UnixSeconds> updated_at{};
  bool archived = false;
  std::optional<UnixSeconds> archived_at{};
  std::vector<Tool> tools{};
  std::optional<ThreadStatus> status{};
  std::optional<Goal> goal{};
};

/// The thread that a session becomes: its id when that is a UUID, else one made from both.
ThreadId thread_id_of(const std::string& source, const std::string& source_id);

/// An idempotency key of at most 200 bytes: "<source>:<id>", or a hash when that is longer.
std::string message_key(const std::string& source, const std::string& id);

}  // namespace threadstore::exchange
