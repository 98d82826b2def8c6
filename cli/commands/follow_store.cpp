#include "cli/commands/follow_store.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include "cli/output/descriptor_stream.h"

namespace threadstore::cli {
namespace {

using namespace std::chrono_literals;

/// How often it is seen whether anybody still reads.
constexpr std::chrono::milliseconds kLook = 100ms;
constexpr std::chrono::milliseconds kLongestPause = 2s;

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

StateStore store_to_follow(Invocation& call) {
  const StateStore& store = call.store();
  if (!call.store_missing()) return store;
  call.note("there is no store at " + call.database().string() + " yet; waiting for one");
  return wait_for_store(call);
}

}  // namespace

// A store of an older schema is read from a copy, which does not follow what others write: it is
// opened again and again, ever more seldom, until a writer has brought it up to date.
void follow_store(Invocation& call, const std::function<void(const StateStore&)>& look) {
  StateStore store = store_to_follow(call);
  auto pause = kLook / 2;
  for (;;) {
    // The mark is taken before the look: what is committed in between ends the wait at once.
    const std::int64_t mark = store.change_mark();
    look(store);
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

}  // namespace threadstore::cli
