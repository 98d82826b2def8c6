#include "cli/chat/follow.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "cli/output/lease_json.h"
#include "cli/terminal/conversation.h"
#include "cli/terminal/local_time.h"

namespace threadstore::cli {
namespace {

constexpr std::size_t shown_at_first = 10;
// New messages wake at once; a holder's death commits nothing and is looked for this often.
constexpr std::chrono::milliseconds look_interval{200};

bool held(const StateStore& store, const ThreadId& thread) {
  const auto holder = store.leases().find(LeaseKind::thread, thread.str());
  return holder && holder->alive;
}

bool stopped(Dialogue& dialogue) {
  return dialogue.signals().take_interrupt() || dialogue.signals().end_requested();
}

class Follower {
 public:
  Follower(Dialogue& dialogue, const StateStore& store, const ThreadId& thread)
      : dialogue_(dialogue), messages_(store.messages()), thread_(thread) {
    // The mark is taken before the list: what is committed in between may be in both.
    seen_ = messages_.newest_id();
    for (const Message& message : messages_.list(thread_, {.limit = shown_at_first}).messages) {
      show(message);
      if (message.id > seen_) early_.push_back(message.id);
    }
    dialogue_.out().flush();
  }

  void show_new() {
    for (const Message& message : messages_.since(thread_, seen_)) {
      seen_ = message.id;
      if (std::find(early_.begin(), early_.end(), message.id) == early_.end()) show(message);
    }
    dialogue_.out().flush();
  }

 private:
  void show(const Message& message) {
    print_message(dialogue_.out(), message, dialogue_.look());
    dialogue_.out() << '\n';
  }

  Dialogue& dialogue_;
  Messages messages_;
  const ThreadId& thread_;
  MessageId seen_{};
  std::vector<MessageId> early_;
};

}  // namespace

HolderWatch follow(Dialogue& dialogue, const StateStore& store, const ThreadId& thread) {
  Follower follower(dialogue, store, thread);
  dialogue.aside("Following, read-only. Ctrl-C ends it.");
  while (true) {
    // The mark before all looks: what is committed in between ends the wait at once. The holder
    // before reading: what it wrote last is still shown.
    const std::int64_t mark = store.change_mark();
    const bool free = !held(store, thread);
    follower.show_new();
    if (free) return HolderWatch::free;
    store.wait_for_change(mark, look_interval);
    if (stopped(dialogue)) return HolderWatch::stopped;
  }
}

HolderWatch wait_until_free(Dialogue& dialogue, const StateStore& store, const ThreadId& thread) {
  dialogue.aside("Waiting until it is free. Ctrl-C gives up.");
  while (true) {
    const std::int64_t mark = store.change_mark();
    if (!held(store, thread)) return HolderWatch::free;
    store.wait_for_change(mark, look_interval);
    if (stopped(dialogue)) return HolderWatch::stopped;
  }
}

std::string describe_holder(const LeaseState& holder, UnixSeconds now) {
  return shown_owner(holder.owner) + ", since " + short_local_time(holder.since, now);
}

}  // namespace threadstore::cli
