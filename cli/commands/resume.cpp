#include <memory>
#include <optional>

#include "cli/app/invocation.h"
#include "cli/app/syntax.h"
#include "cli/commands/commands.h"
#include "cli/output/lease_json.h"
#include "cli/output/thread_json.h"
#include "cli/output/thread_table.h"
#include "cli/resolve/thread_ref.h"
#include "cli/terminal/local_time.h"
#include "cli/terminal/text.h"

namespace threadstore::cli {
namespace {

struct Options {
  std::optional<std::string> thread;
  bool any_directory = false;
};

Thread last_thread_anywhere(const StateStore& store) {
  auto page = store.threads().list({.limit = 1});
  if (!page.items.empty()) return std::move(page.items.front());
  throw Error(ErrorCode::not_found, "there is no thread yet; `threadstore chat` starts one");
}

Thread thread_to_resume(Invocation& call, const Options& options) {
  if (options.thread) return resolve_thread(call, *options.thread);
  return options.any_directory ? last_thread_anywhere(call.store())
                               : last_thread_here(call.store());
}

void print_state(Invocation& call, const Thread& thread) {
  const StateStore& store = call.store();
  const std::int64_t messages = store.messages().count(thread.id);
  const auto lease = store.leases().find(LeaseKind::thread, thread.id.str());
  if (call.json()) {
    return call.print({{"thread", thread_json(thread)},
                       {"messages", messages},
                       {"held_by", held_by_json(lease)}});
  }
  const auto line = [&](const std::string& label, const std::string& value) {
    call.out() << pad_to_width(label, 12) << escape_for_terminal(value) << '\n';
  };
  line("thread", thread.id.str());
  line("name", shown_name(thread));
  line("status", shown_status(store, thread));
  line("messages", std::to_string(messages));
  line("active", short_local_time(thread.updated_at, call.now()));
  line("directory", thread.cwd);
  line("held by", lease && lease->alive ? shown_owner(lease->owner) : "nobody");
}

}  // namespace

Action declare_resume(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  syntax.add_option("thread", options->thread, "Default: @last, this directory's last thread")
      ->type_name("THREAD");
  syntax.add_flag("--any-dir", options->any_directory,
                  "Without THREAD: the last one of any directory");
  return [options](Invocation& call) {
    const Thread thread = thread_to_resume(call, *options);
    if (call.interactive() && !call.json()) return continue_thread(call, thread.id);
    print_state(call, thread);
  };
}

}  // namespace threadstore::cli
