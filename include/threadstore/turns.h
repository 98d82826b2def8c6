#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "threadstore/messages.h"
#include "threadstore/run_record.h"

namespace threadstore {

namespace state {
struct RunScope;
}

struct NewTurn {
  ThreadId thread{};
  NewMessage message{};    ///< what the user said
  AppendOptions append{};  ///< expected leaf, key and thread lease, as for `Messages::append`
  NewRun run{};            ///< its `thread_id`, and a blank `input`, come from the message
  std::string program{};   ///< who holds the run's lease; empty: nobody
};

struct Turn {
  Run run;
  Appended message;
  std::optional<Lease> lease;
};

struct TurnEnd {
  RunEnd end{};
  std::vector<NewMessage> reply{};  ///< none, one, or a chain; the last one is the reply
  /// The leaf that the turn's own messages ended at; default: its trigger.
  std::optional<MessageId> under{};
  std::optional<LeaseToken> thread_lease{};
};

struct FinishedTurn {
  Run run;
  /// Where the reply went. `branched`: somebody else had written under the trigger, and the active
  /// branch ends at `current_leaf_id`.
  std::optional<Appended> reply;
};

/// A turn of a conversation is a run: the user's message triggers it, the assistant's message is
/// its reply. A light handle like `Runs`.
class Turns {
 public:
  /// Appends the message and makes the run in one commit. A replayed key gives the same turn again,
  /// without a lease. Throws what `Messages::append` and `Runs::create` throw.
  Turn begin(const NewTurn& turn);

  /// Stops the run and appends the reply under the trigger in one commit. The current leaf moves
  /// only if it still is what the reply answers; else the reply is a branch.
  FinishedTurn finish(const RunId& run, const TurnEnd& end);

  /// Makes a run, held by `program`, for a message that is stored already: it is answered later, or
  /// once more. Throws `not_found` when the thread does not show the message.
  HeldRun begin_for(const ThreadId& thread, MessageId trigger, const NewRun& run,
                    const std::string& program);

  /// Stops the run. The caller stored the reply itself, best in the same transaction.
  Run finish_with(const RunId& run, const RunEnd& end, std::optional<MessageId> reply);

  /// The newest run that a message triggered; nothing when none did in this workspace.
  std::optional<Run> find(const ThreadId& thread, MessageId trigger) const;
  /// All runs that a message triggered, oldest first: more than one when it was answered again.
  std::vector<Run> list(const ThreadId& thread, MessageId trigger) const;

 private:
  friend class Runs;
  explicit Turns(std::shared_ptr<const state::RunScope> scope) : scope_(std::move(scope)) {}
  std::shared_ptr<const state::RunScope> scope_;
};

}  // namespace threadstore
