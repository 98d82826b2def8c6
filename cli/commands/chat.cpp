#include "cli/chat/chat.h"

#include <memory>

#include "cli/app/choices.h"
#include "cli/app/invocation.h"
#include "cli/app/syntax.h"
#include "cli/commands/commands.h"
#include "cli/resolve/directory.h"
#include "cli/resolve/text_argument.h"
#include "cli/resolve/thread_ref.h"

namespace threadstore::cli {
namespace {

struct Options {
  std::optional<std::string> thread, name, command;
  bool fresh = false;
  bool last = false;
  bool ephemeral = false;
  std::string on_busy = "ask";
};

void chat(Invocation& call, const Options& options) {
  if (call.json()) {
    throw Error(ErrorCode::invalid_argument,
                "chat talks in text; for JSON use `append`, `show --json` and `watch --json`");
  }
  ChatRequest request{.name = line_argument(call, options.name, "the name"),
                      .command = options.command,
                      .cwd = valid_text(call, current_directory(), "the directory"),
                      .ephemeral = options.ephemeral,
                      .on_busy = from_word<OnBusy>(options.on_busy).value_or(OnBusy::ask)};
  if (options.ephemeral) {
    StateStore store = StateStore::in_memory(call.open_options(OpenMode::memory));
    Chat(call, std::move(store), std::move(request)).run();
    return;
  }
  // A thread that is named must exist: looking for it must not make a store.
  if (options.thread) request.thread = resolve_thread(call, *options.thread).id;
  if (options.last) request.thread = resolve_thread(call, "@last").id;
  Chat(call, call.open_for_writing(), std::move(request)).run();
}

}  // namespace

void continue_thread(Invocation& call, const ThreadId& thread) {
  Chat(call, call.open_for_writing(),
       {.thread = thread, .cwd = valid_text(call, current_directory(), "the directory")})
      .run();
}

Action declare_chat(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  Option* thread =
      syntax
          .add_option("thread", options->thread,
                      "The thread to go on with: an id, a name, a part of an id, or @last")
          ->type_name("THREAD");
  Option* fresh = syntax.add_flag("--new", options->fresh, "Start a new thread (the default)");
  Option* last =
      syntax.add_flag("--last", options->last, "Go on with this directory's last thread");
  syntax.add_option("--name", options->name, "What to call the thread")->type_name("NAME");
  syntax
      .add_option("--exec", options->command,
                  "Answer with `sh -c CMD`: the conversation as JSON on its standard input, its "
                  "output is the answer")
      ->type_name("CMD");
  Option* ephemeral = syntax.add_flag("--ephemeral", options->ephemeral,
                                      "Keep it in memory: nothing reaches the disk");
  syntax
      .add_option("--on-busy", options->on_busy,
                  "When another program holds the thread: ask, fork, attach (follow it read-only), "
                  "wait or take-over")
      ->check(one_of<OnBusy>())
      ->type_name("");
  fresh->excludes(thread)->excludes(last);
  last->excludes(thread);
  ephemeral->excludes(thread)->excludes(last);
  return [options](Invocation& call) { chat(call, *options); };
}

}  // namespace threadstore::cli
