#include "cli/resolve/thread_ref.h"

#include <stdlib.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "cli/output/thread_table.h"
#include "cli/resolve/directory.h"
#include "cli/terminal/local_time.h"

namespace threadstore::cli {
namespace {

constexpr std::size_t kShortestPart = 4;
constexpr std::size_t kMostListed = 10;

[[noreturn]] void none_matches(const std::string& given) {
  throw Error(ErrorCode::not_found,
              "no thread has the id, the name or the id part '" + given +
                  "'; `threadstore list --all` shows every one",
              {{"thread", given}});
}

[[noreturn]] void several_match(const std::string& given, const std::vector<Thread>& threads) {
  std::string message = "'" + given + "' matches several threads; name one by its id:";
  nlohmann::json candidates = nlohmann::json::array();
  const UnixSeconds now = system_clock()() / 1000;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    const Thread& thread = threads[i];
    candidates.push_back({{"id", thread.id.str()}, {"name", or_null(thread.name)}});
    if (i < kMostListed) {
      message += "\n  " + thread.id.str() + "  " + short_local_time(thread.updated_at, now) + "  " +
                 shown_name(thread);
    }
  }
  if (threads.size() > kMostListed) message += "\n  …";
  throw Error(ErrorCode::invalid_argument, message, {{"candidates", candidates}});
}

/// The one that matches; nothing when none does.
std::optional<Thread> only(const std::string& given, std::vector<Thread> threads) {
  if (threads.size() > 1) several_match(given, threads);
  if (threads.empty()) return std::nullopt;
  return std::move(threads.front());
}

void refuse_empty(const std::string& given) {
  if (given.empty()) {
    throw Error(ErrorCode::invalid_argument,
                "a thread is named by its id, its name, a part of its id, or @last; got nothing");
  }
}

/// The directory under the names it may be stored with: the real path, and the one that the shell
/// shows where another program stored that.
std::vector<std::string> names_of_current_directory() {
  std::vector<std::string> names{current_directory()};
  const char* shown = ::getenv("PWD");
  if (shown != nullptr && names.front() != shown && real_directory(shown) == names.front()) {
    names.emplace_back(shown);
  }
  return names;
}

[[noreturn]] void no_store(Invocation& call, const std::string& given) {
  throw Error(ErrorCode::not_found,
              "there is no thread '" + given + "': no store at " + call.database().string() +
                  " yet; `threadstore chat` or `threadstore new` makes one",
              {{"thread", given}});
}

}  // namespace

Thread last_thread_here(const StateStore& store) {
  std::optional<Thread> last;
  const auto names = names_of_current_directory();
  for (const std::string& name : names) {
    auto page = store.threads().list({.cwd = name, .limit = 1});
    if (page.items.empty()) continue;
    if (!last || page.items.front().updated_at > last->updated_at) last = page.items.front();
  }
  if (last) return *last;
  throw Error(ErrorCode::not_found, "no thread was started in " + names.front() +
                                        "; `threadstore list` shows those of all directories");
}

Thread find_thread(const StateStore& store, const std::string& given) {
  refuse_empty(given);
  const Threads threads = store.threads();
  if (auto thread = threads.find(ThreadId(given))) return *thread;
  if (auto thread = only(given, threads.find_by_name(given))) return *thread;
  if (given.size() >= kShortestPart) {
    if (auto thread = only(given, threads.find_by_id_part(given))) return *thread;
  }
  if (given == "@last") return last_thread_here(store);
  none_matches(given);
}

Thread find_thread_to_delete(const StateStore& store, const std::string& given) {
  refuse_empty(given);
  const Threads threads = store.threads();
  if (auto thread = threads.find(ThreadId(given))) return *thread;
  auto named = threads.find_by_name(given);
  std::erase_if(named, [&](const Thread& thread) { return thread.name != given; });
  if (auto thread = only(given, std::move(named))) return *thread;
  const Thread meant = find_thread(store, given);
  throw Error(ErrorCode::invalid_argument,
              "'" + given +
                  "' is neither a full id nor an exact name, and nothing is deleted by "
                  "less; did you mean " +
                  meant.id.str() + " (" + shown_name(meant) + ")?",
              {{"candidates", {{{"id", meant.id.str()}, {"name", or_null(meant.name)}}}}});
}

Thread resolve_thread(Invocation& call, const std::string& given) {
  const StateStore& store = call.store();
  if (call.store_missing()) no_store(call, given);
  return find_thread(store, given);
}

Thread resolve_thread_to_delete(Invocation& call, const std::string& given) {
  const StateStore& store = call.store();
  if (call.store_missing()) no_store(call, given);
  return find_thread_to_delete(store, given);
}

}  // namespace threadstore::cli
