#include <iostream>
#include <memory>

#include "cli/app/exit_code.h"
#include "cli/app/invocation.h"
#include "cli/app/syntax.h"
#include "cli/commands/commands.h"
#include "cli/commands/thread_argument.h"
#include "cli/output/counted.h"
#include "cli/output/thread_table.h"
#include "cli/output/warnings.h"
#include "cli/resolve/run_ref.h"
#include "cli/resolve/thread_ref.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/text.h"

namespace threadstore::cli {
namespace {

struct Options {
  std::string thread;
  bool yes = false;
  bool keep_runs = false;
};

/// True when the user agrees. Throws `invalid_argument` when there is nobody to ask.
bool agreed(Invocation& call, const Options& options, const std::string& question) {
  if (options.yes) return true;
  if (!call.can_ask()) {
    throw Error(ErrorCode::invalid_argument,
                "deleting needs --yes where no terminal is there to ask; nothing was deleted");
  }
  std::cerr << escape_for_terminal(question) << " [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  if (answer == "y" || answer == "Y" || answer == "yes") return true;
  call.note("nothing was deleted");
  call.set_exit_code(exit_failed);
  return false;
}

std::string thread_in_words(Invocation& call, const Thread& thread) {
  return shown_name(thread) + " (" + thread.id.str() + ", " +
         counted(call.store().messages().count(thread.id), "message") + ")";
}

std::shared_ptr<Options> declare_options(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  add_thread(syntax, options->thread)->description("A full id or an exact name");
  syntax.add_flag("--yes", options->yes, "Do not ask");
  return options;
}

}  // namespace

Action declare_delete(Syntax& syntax) {
  auto options = declare_options(syntax);
  syntax.add_flag("--keep-runs", options->keep_runs,
                  "Keep the runs of the thread's workspace, without their thread");
  return [options](Invocation& call) {
    const Thread thread = resolve_thread_to_delete(call, options->thread);
    if (!agreed(call, *options, "Delete thread " + thread_in_words(call, thread) + "?")) return;
    std::int64_t kept = 0;
    if (options->keep_runs) kept = runs_of_thread(call, call.store(), thread).detach(thread.id);
    ProgressBar progress("deleting", call.options().quiet);
    const RemovedThread removed = call.store().threads().remove(thread.id, std::ref(progress));
    if (!removed.existed) {
      throw Error(ErrorCode::not_found, "thread " + thread.id.str() + " was removed meanwhile");
    }
    warn_about(call, removed);
    if (call.json()) {
      return call.print({{"id", thread.id.str()},
                         {"messages", removed.messages},
                         {"runs", removed.runs},
                         {"kept_runs", kept}});
    }
    call.out() << "deleted " << escape_for_terminal(thread.id.str()) << ", "
               << counted(removed.messages, "message") << ", " << counted(removed.runs, "run");
    if (options->keep_runs) call.out() << "; kept " << counted(kept, "run");
    call.out() << '\n';
  };
}

Action declare_clear(Syntax& syntax) {
  auto options = declare_options(syntax);
  return [options](Invocation& call) {
    const Thread thread = resolve_thread_to_delete(call, options->thread);
    if (!agreed(call, *options, "Delete all messages of " + thread_in_words(call, thread) + "?")) {
      return;
    }
    ProgressBar progress("clearing", call.options().quiet);
    const ClearedThread cleared = call.store().messages().clear(thread.id, std::ref(progress));
    warn_about(call, cleared);
    if (call.json()) return call.print({{"deleted", cleared.deleted}});
    call.out() << "deleted " << counted(cleared.deleted, "message") << '\n';
  };
}

}  // namespace threadstore::cli
