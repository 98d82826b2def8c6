#include "cli/chat/entrance.h"

#include <nlohmann/json.hpp>
#include <string>

#include "cli/chat/follow.h"
#include "cli/output/thread_table.h"
#include "cli/terminal/conversation.h"
#include "cli/terminal/text.h"

namespace threadstore::cli {
namespace {

constexpr std::size_t shown_on_entry = 10;

}  // namespace

bool Entrance::enter(const ThreadId& thread) {
  while (true) {
    try {
      greet(session_.open(thread));
      return true;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::conflict) throw;
    }
    const auto holder = store_.leases().find(LeaseKind::thread, thread.str());
    if (!holder || !holder->alive) continue;  // it ended in between
    switch (deal_with(thread, *holder)) {
      case Step::inside:
        return true;
      case Step::away:
        return false;
      case Step::again:
        break;
    }
  }
}

Entrance::Step Entrance::deal_with(const ThreadId& thread, const LeaseState& holder) {
  switch (choice(thread, holder)) {
    case OnBusy::ask:
      return Step::away;
    case OnBusy::fork:
      session_.open_fork(thread, std::nullopt);
      dialogue_.aside("Forked: this is a new thread, …" + short_id(session_.id()) + ".");
      greet(false);
      return Step::inside;
    case OnBusy::take_over:
      session_.open(thread, true);
      dialogue_.aside("Taken over from " + describe_holder(holder, dialogue_.call().now()) + ".");
      greet(false);
      return Step::inside;
    case OnBusy::wait:
      return wait_until_free(dialogue_, store_, thread) == HolderWatch::free ? Step::again
                                                                             : Step::away;
    case OnBusy::attach:
      break;
  }
  if (follow(dialogue_, store_, thread) == HolderWatch::stopped) return Step::away;
  dialogue_.aside("The thread is free now.");
  if (!dialogue_.interactive()) return Step::again;
  return dialogue_.choose("Continue it here? [Y/n] ", "yn") == 'y' ? Step::again : Step::away;
}

OnBusy Entrance::choice(const ThreadId& thread, const LeaseState& holder) {
  if (on_busy_ != OnBusy::ask) return on_busy_;
  const std::string held =
      "Thread " + thread.str() + " is held by " + describe_holder(holder, dialogue_.call().now());
  if (!dialogue_.interactive()) {
    throw Error(ErrorCode::conflict,
                held +
                    ". Say what to do: --on-busy fork (a new thread that starts as this one), "
                    "attach (follow it read-only), wait (until it is free) or take-over.",
                {{"thread_id", thread.str()},
                 {"pid", holder.owner.pid},
                 {"program", holder.owner.program},
                 {"terminal", holder.owner.terminal},
                 {"since", holder.since}});
  }
  dialogue_.warn(held + ".");
  dialogue_.out() << "  f  fork: go on in a new thread that starts as this one\n"
                     "  a  attach: follow it here, read-only\n"
                     "  w  wait until it is free\n"
                     "  t  take over: the other one can no longer write to it\n"
                     "  q  quit\n";
  switch (dialogue_.choose("Choice [f]: ", "fawtq")) {
    case 'f':
      return OnBusy::fork;
    case 'a':
      return OnBusy::attach;
    case 'w':
      return OnBusy::wait;
    case 't':
      return OnBusy::take_over;
    default:
      return OnBusy::ask;
  }
}

void Entrance::greet(bool interrupted) {
  const BranchPage page = session_.last_messages(shown_on_entry);
  if (dialogue_.interactive()) {
    const std::string name = shown_name(session_.thread());
    dialogue_.aside("Thread …" + short_id(session_.id()) + (name.empty() ? "" : " " + name) +
                    (page.more ? ". Older messages: /show" : ""));
    dialogue_.out() << '\n';
    print_conversation(dialogue_.out(), page.messages, dialogue_.look());
    if (!page.messages.empty()) dialogue_.out() << '\n';
    for (const Message& message : page.messages) {
      if (message.role == "user") dialogue_.remember(message.content);
    }
  }
  if (!interrupted) return;
  std::string text = "It was interrupted: the program that held it ended without closing it. ";
  if (page.messages.empty()) {
    text += "It has no message.";
  } else {
    const Message& last = page.messages.back();
    text += "Everything stored is here; the last message is #" + std::to_string(to_int(last.id)) +
            " (" + last.role + ").";
    if (last.role == "user") text += " It has no answer: /retry asks again.";
  }
  dialogue_.warn(text);
}

}  // namespace threadstore::cli
