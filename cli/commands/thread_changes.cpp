#include <memory>

#include "cli/app/invocation.h"
#include "cli/app/syntax.h"
#include "cli/commands/commands.h"
#include "cli/commands/thread_argument.h"
#include "cli/output/thread_json.h"
#include "cli/output/thread_table.h"
#include "cli/resolve/message_ref.h"
#include "cli/resolve/text_argument.h"
#include "cli/resolve/thread_ref.h"
#include "cli/terminal/text.h"

namespace threadstore::cli {
namespace {

struct ForkOptions {
  std::string thread;
  std::optional<std::string> at, name;
};

struct RenameOptions {
  std::string thread, name;
};

struct SwitchOptions {
  std::string thread, message;
};

/// What changed, in the words of the command: "renamed 1f2e3d4c work".
void print_changed(Invocation& call, const std::string& done, const Thread& thread) {
  if (call.json()) return call.print(thread_json(thread));
  call.out() << done << ' ' << escape_for_terminal(short_id(thread.id)) << "  "
             << escape_for_terminal(shown_name(thread)) << '\n';
}

Action change_archived(Syntax& syntax, bool archived) {
  auto given = std::make_shared<std::string>();
  add_thread(syntax, *given);
  return [given, archived](Invocation& call) {
    Threads threads = call.store().threads();
    const ThreadId id = resolve_thread(call, *given).id;
    archived ? threads.archive(id) : threads.unarchive(id);
    print_changed(call, archived ? "archived" : "unarchived", threads.get(id));
  };
}

}  // namespace

Action declare_fork(Syntax& syntax) {
  auto options = std::make_shared<ForkOptions>();
  add_thread(syntax, options->thread);
  syntax.add_option("--at", options->at, "Where it goes its own way (default: the current leaf)")
      ->type_name("MESSAGE");
  syntax.add_option("--name", options->name, "What to call the new thread")->type_name("NAME");
  return [options](Invocation& call) {
    const StateStore& store = call.store();
    const Thread source = resolve_thread(call, options->thread);
    const ThreadChange made =
        store.threads().fork({.source = source.id,
                              .at = find_message(store, source, options->at),
                              .name = line_argument(call, options->name, "the name")});
    if (call.json()) {
      return call.print({{"id", made.thread.id.str()},
                         {"forked_from", fork_origin_json(made.thread.forked_from)}});
    }
    call.out() << escape_for_terminal(made.thread.id.str()) << '\n';
  };
}

Action declare_rename(Syntax& syntax) {
  auto options = std::make_shared<RenameOptions>();
  add_thread(syntax, options->thread);
  syntax.add_option("name", options->name, "The new name; - reads standard input")
      ->type_name("NAME")
      ->required();
  return [options](Invocation& call) {
    const ThreadId id = resolve_thread(call, options->thread).id;
    const ThreadChange renamed =
        call.store().threads().rename(id, line_argument(call, options->name, "the name"));
    print_changed(call, "renamed", renamed.thread);
  };
}

Action declare_archive(Syntax& syntax) { return change_archived(syntax, true); }

Action declare_unarchive(Syntax& syntax) { return change_archived(syntax, false); }

Action declare_switch(Syntax& syntax) {
  auto options = std::make_shared<SwitchOptions>();
  add_thread(syntax, options->thread);
  add_message(syntax, options->message, "The branch's tip, or none: the next append is a new root");
  return [options](Invocation& call) {
    const StateStore& store = call.store();
    const Thread thread = resolve_thread(call, options->thread);
    const auto leaf = find_message_or_none(store, thread, options->message);
    store.messages().set_current_leaf(thread.id, leaf);
    const std::string target = leaf ? "#" + std::to_string(to_int(*leaf)) : "no message";
    print_changed(call, "switched to " + target + " in", store.threads().get(thread.id));
  };
}

}  // namespace threadstore::cli
