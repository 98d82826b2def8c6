#include <memory>
#include <optional>

#include "cli/app/invocation.h"
#include "cli/app/syntax.h"
#include "cli/commands/commands.h"
#include "cli/commands/follow_store.h"
#include "cli/output/message_json.h"
#include "cli/resolve/message_ref.h"
#include "cli/resolve/thread_ref.h"
#include "cli/terminal/conversation.h"

namespace threadstore::cli {
namespace {

constexpr std::size_t kAtOnce = 1000;

struct Options {
  std::optional<std::string> thread, since;
};

/// Prints messages with an id above the last one printed.
class Watcher {
 public:
  Watcher(Invocation& call, std::optional<ThreadId> thread, MessageId last)
      : call_(call), thread_(std::move(thread)), last_(last) {}

  void print_new(const StateStore& store) {
    for (;;) {
      const auto messages = store.messages().since(thread_, last_, kAtOnce);
      for (const Message& message : messages) print(message);
      call_.out().flush();
      if (messages.size() < kAtOnce) return;
    }
  }

 private:
  void print(const Message& message) {
    last_ = message.id;
    if (call_.json()) return call_.print(message_json(message));
    if (!std::exchange(first_, false)) call_.out() << '\n';
    look_.now = call_.now();
    print_message(call_.out(), message, look_);
  }

  Invocation& call_;
  std::optional<ThreadId> thread_;
  MessageId last_;
  Look look_ = Look::for_standard_output(call_.options().color_mode());
  bool first_ = true;
};

void watch(Invocation& call, const Options& options) {
  StateStore& store = call.store();
  std::optional<ThreadId> thread;
  if (options.thread) thread = resolve_thread(call, *options.thread).id;
  if (options.since) {
    Watcher(call, thread, parse_message_id(*options.since)).print_new(store);
    return;
  }
  // In a store that was not there when we started, every message is new.
  const MessageId last = call.store_missing() ? MessageId{0} : store.messages().newest_id();
  Watcher watcher(call, thread, last);
  follow_store(call, [&](const StateStore& seen) { watcher.print_new(seen); });
}

}  // namespace

Action declare_watch(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  syntax.add_option("thread", options->thread, "Only this thread (default: all)")
      ->type_name("THREAD");
  syntax.add_option("--since", options->since, "What came after that message id, and end")
      ->type_name("ID");
  return [options](Invocation& call) { watch(call, *options); };
}

}  // namespace threadstore::cli
