#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include "cli/app/invocation.h"
#include "cli/commands/commands.h"
#include "cli/output/descriptor_stream.h"
#include "cli/output/message_json.h"
#include "cli/resolve/message_ref.h"
#include "cli/resolve/thread_ref.h"
#include "cli/terminal/conversation.h"

namespace threadstore::cli {
namespace {

using namespace std::chrono_literals;

/// How often it is seen whether anybody still reads.
constexpr std::chrono::milliseconds kLook = 100ms;
constexpr std::chrono::milliseconds kLongestPause = 2s;
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

void stop_when_nobody_reads() {
  pollfd reader{.fd = STDOUT_FILENO, .events = 0, .revents = 0};
  if (::poll(&reader, 1, 0) == 1 && (reader.revents & POLLERR) != 0) throw ReaderGone{};
}

/// Waits until somebody has made the store. One that is being made may refuse for a moment.
StateStore wait_for_store(Invocation& call) {
  using Clock = std::chrono::steady_clock;
  std::optional<Clock::time_point> refused_until;
  for (;;) {
    try {
      return StateStore::open(call.database(), call.open_options(OpenMode::read_only));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::not_found) {
        if (!refused_until) refused_until = Clock::now() + call.options().deadline();
        if (Clock::now() >= *refused_until) throw;
      }
    }
    stop_when_nobody_reads();
    std::this_thread::sleep_for(kLook / 2);
  }
}

/// A store of an older schema is read from a copy, which does not follow what others write: it is
/// opened again and again, ever more seldom, until a writer has brought it up to date.
void follow(Invocation& call, StateStore store, Watcher& watcher) {
  auto pause = kLook / 2;
  for (;;) {
    // The mark is taken before the look: what is committed in between ends the wait at once.
    const std::int64_t mark = store.change_mark();
    watcher.print_new(store);
    stop_when_nobody_reads();
    if (store.is_snapshot()) {
      std::this_thread::sleep_for(pause);
      pause = std::min(2 * pause, kLongestPause);
      store = wait_for_store(call);
    } else {
      while (!store.wait_for_change(mark, kLook)) stop_when_nobody_reads();
    }
  }
}

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
  if (call.store_missing()) {
    call.note("there is no store at " + call.database().string() + " yet; waiting for one");
    follow(call, wait_for_store(call), watcher);
  } else {
    follow(call, store, watcher);
  }
}

}  // namespace

Action declare_watch(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("thread", options->thread, "Only this thread (default: all)")->type_name("THREAD");
  app.add_option("--since", options->since, "What came after that message id, and end")
      ->type_name("ID");
  return [options](Invocation& call) { watch(call, *options); };
}

}  // namespace threadstore::cli
