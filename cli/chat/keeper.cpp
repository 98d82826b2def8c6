#include "cli/chat/keeper.h"

#include <string>

#include "cli/chat/follow.h"
#include "cli/output/thread_table.h"

namespace threadstore::cli {
namespace {

// Each mending needs another program's act in between; more in a row is no coincidence.
constexpr int most_attempts = 5;

std::string number(MessageId id) { return "#" + std::to_string(to_int(id)); }

}  // namespace

std::optional<Stored> Keeper::keep(const NewMessage& message,
                                   const std::function<void(MessageId)>& also) {
  for (int attempt = 1;; ++attempt) {
    try {
      const Stored stored = session_.append(message, also);
      report_branch(stored);
      return stored;
    } catch (const Error& error) {
      // A busy store has written nothing. A person can wait for it; a script has its deadline.
      if (error.code() == ErrorCode::busy && dialogue_.interactive()) {
        dialogue_.warn(std::string(error.what()) + "\nTrying again; Ctrl-C gives up.");
        if (dialogue_.signals().take_interrupt() || dialogue_.signals().end_requested()) throw;
        continue;
      }
      if (attempt == most_attempts || !session_.has_thread()) throw;
      if (!mend(error)) return std::nullopt;
    }
  }
}

// True: try again. False: the words are dropped. Otherwise throws the error.
bool Keeper::mend(const Error& error) {
  if (error.code() != ErrorCode::conflict && error.code() != ErrorCode::not_found) throw error;
  if (!store_.threads().find(session_.id())) {
    dialogue_.warn("Thread " + session_.id().str() +
                   " was deleted by another program. Your words start a new one.");
    session_.close();
    return true;
  }
  if (session_.taken_over()) return settle_take_over();
  dialogue_.warn(
      "The message that you answered is gone: another program cleared this thread. "
      "Your words go where it ends now.");
  session_.reload_leaf();
  return true;
}

bool Keeper::settle_take_over() {
  const auto holder = store_.leases().find(LeaseKind::thread, session_.id().str());
  const std::string who =
      holder ? describe_holder(*holder, dialogue_.call().now()) : "a program that has ended";
  dialogue_.warn("This thread was taken over by " + who + ". Your words are not stored yet.");
  char choice = 'f';
  if (dialogue_.interactive()) {
    dialogue_.out()
        << "  f  fork: store them in a new thread that starts as this one, go on there\n"
           "  b  branch: store them in this thread beside the other's, go on there\n"
           "  d  drop them\n";
    choice = dialogue_.choose("Choice [f]: ", "fbd");
  }
  if (choice == 'd') return false;
  if (choice == 'b') {
    session_.continue_beside();
    return true;
  }
  const ThreadId source = session_.id();
  session_.open_fork(source, session_.leaf());
  dialogue_.aside("Going on in the fork " + session_.id().str() + "; thread " + source.str() +
                  " is left to its new holder.");
  return true;
}

void Keeper::report_branch(const Stored& stored) {
  if (!stored.other_tip || stored.other_tip == reported_tip_) return;
  reported_tip_ = stored.other_tip;
  const std::string ours = number(stored.id);
  const std::string theirs = number(*stored.other_tip);
  dialogue_.warn("Another program wrote here meanwhile, up to " + theirs + ". Your message is " +
                 ours + ", a branch beside it, and this chat goes on there. /switch " +
                 theirs.substr(1) + " goes over to theirs, /switch " + ours.substr(1) +
                 " makes yours the active branch.");
}

}  // namespace threadstore::cli
