#pragma once

#include <optional>
#include <string_view>

#include "cli/chat/dialogue.h"
#include "cli/chat/session.h"
#include "threadstore/enum_names.h"
#include "threadstore/state_store.h"

namespace threadstore::cli {

/// `--on-busy`: what to do with a thread that another living program holds.
enum class OnBusy { ask, fork, attach, wait, take_over };

/// Gets a session into a thread, whoever holds it.
class Entrance {
 public:
  Entrance(Dialogue& dialogue, StateStore store, ConversationSession& session, OnBusy on_busy)
      : dialogue_(dialogue), store_(std::move(store)), session_(session), on_busy_(on_busy) {}

  /// Says what is there, when a person came in. False: the user turned away, and the session is
  /// where it was. Throws `conflict` listing the choices when it should ask and there is nobody.
  bool enter(const ThreadId& thread);

 private:
  enum class Step { inside, again, away };
  Step deal_with(const ThreadId& thread, const LeaseState& holder);
  OnBusy choice(const ThreadId& thread, const LeaseState& holder);
  void greet(bool interrupted);

  Dialogue& dialogue_;
  StateStore store_;
  ConversationSession& session_;
  OnBusy on_busy_;
};

}  // namespace threadstore::cli

template <>
struct threadstore::EnumNames<threadstore::cli::OnBusy> {
  using OnBusy = threadstore::cli::OnBusy;
  static constexpr std::array table{
      std::pair{OnBusy::ask, std::string_view("ask")},
      std::pair{OnBusy::fork, std::string_view("fork")},
      std::pair{OnBusy::attach, std::string_view("attach")},
      std::pair{OnBusy::wait, std::string_view("wait")},
      std::pair{OnBusy::take_over, std::string_view("take-over")},
  };
};
