#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/chat/dialogue.h"
#include "cli/chat/entrance.h"
#include "cli/chat/keeper.h"
#include "cli/chat/responder.h"
#include "cli/chat/session.h"
#include "threadstore/state_store.h"

namespace threadstore::cli {

/// What `chat` was asked for.
struct ChatRequest {
  std::optional<ThreadId> thread{};  ///< absent: a new one
  std::optional<std::string> name{};
  std::optional<std::string> command{};  ///< `--exec`; absent: the built-in echo
  std::string cwd{};
  bool ephemeral = false;
  OnBusy on_busy = OnBusy::ask;
};

/// An interactive conversation kept in the store. Slash commands work on it through this interface.
class Chat {
 public:
  Chat(Invocation& call, StateStore store, ChatRequest request);

  /// Reads and answers until the input ends.
  void run();

  Dialogue& dialogue() noexcept { return dialogue_; }
  ConversationSession& session() noexcept { return session_; }
  const StateStore& store() const noexcept { return store_; }
  bool ephemeral() const noexcept { return request_.ephemeral; }

  bool enter(const ThreadId& thread) { return entrance_.enter(thread); }
  /// Asks for an answer to the message at the session's leaf, shows and stores it.
  void answer(const std::string& words);
  /// Ends the chat after the current input.
  void quit() noexcept { done_ = true; }

 private:
  void welcome();
  void take(const std::string& bytes);
  void converse(const std::string& words);
  void report(const Reply& reply);
  void farewell();
  std::string prompt();

  ChatRequest request_;
  StateStore store_;
  Dialogue dialogue_;
  ConversationSession session_;
  Entrance entrance_;
  Keeper keeper_;
  std::unique_ptr<Responder> responder_;
  bool done_ = false;
};

}  // namespace threadstore::cli
