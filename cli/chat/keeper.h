#pragma once

#include <optional>

#include "cli/chat/dialogue.h"
#include "cli/chat/session.h"
#include "threadstore/state_store.h"

namespace threadstore::cli {

/// Gets words stored whatever other programs did meanwhile: they wrote (ours becomes a branch),
/// took the thread over (the user chooses; without one the words go into a fork), cleared it (they
/// become its first) or removed it (they start a new thread). What happened is said with the ids.
class Keeper {
 public:
  Keeper(Dialogue& dialogue, StateStore store, ConversationSession& session)
      : dialogue_(dialogue), store_(std::move(store)), session_(session) {}

  /// Nothing: the user chose to drop the words. Throws what cannot be mended here (disk full …).
  /// `also` runs in the commit of the message, wherever that went.
  std::optional<Stored> keep(const NewMessage& message,
                             const std::function<void(MessageId)>& also = {});

 private:
  bool mend(const Error& error);
  bool settle_take_over();
  void report_branch(const Stored& stored);

  Dialogue& dialogue_;
  StateStore store_;
  ConversationSession& session_;
  std::optional<MessageId> reported_tip_;
};

}  // namespace threadstore::cli
