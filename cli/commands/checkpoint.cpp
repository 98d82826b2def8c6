#include <unistd.h>

#include <array>
#include <memory>

#include "cli/app/exit_code.h"
#include "cli/app/invocation.h"
#include "cli/app/syntax.h"
#include "cli/commands/commands.h"
#include "cli/commands/paging_options.h"
#include "cli/commands/thread_argument.h"
#include "cli/output/record_json.h"
#include "cli/output/table.h"
#include "cli/resolve/text_argument.h"
#include "cli/resolve/thread_ref.h"
#include "cli/terminal/local_time.h"
#include "cli/terminal/text.h"

namespace threadstore::cli {
namespace {

struct Options {
  std::string thread;
  std::string name;
  std::optional<std::string> latest_or_name;
  std::string state = "{}";
  bool no_leaf = false;
  PagingOptions paging;
};

void add_name(Syntax& syntax, std::string& name) {
  syntax.add_option("name", name, "The checkpoint")->type_name("NAME")->required();
}

std::string where(const Checkpoint& checkpoint) {
  if (checkpoint.leaf_id) return "#" + std::to_string(to_int(*checkpoint.leaf_id));
  return checkpoint.restorable ? "empty" : "-";
}

void print_done(Invocation& call, const std::string& done, const Checkpoint& checkpoint) {
  if (call.json()) return call.print(checkpoint_json(checkpoint));
  call.out() << done << ' ' << escape_for_terminal(checkpoint.checkpoint_id.str()) << "  "
             << where(checkpoint) << '\n';
}

Action declare_save(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  add_thread(syntax, options->thread);
  add_name(syntax, options->name);
  syntax
      .add_option("--state", options->state,
                  "What to keep, any JSON value; - reads standard input (default: {})")
      ->type_name("JSON");
  syntax.add_flag("--no-leaf", options->no_leaf, "Do not remember the current leaf");
  return [options](Invocation& call) {
    const ThreadId thread = resolve_thread(call, options->thread).id;
    print_done(call, "saved",
               call.store().checkpoints().save(
                   thread, {.id = CheckpointId(line_argument(call, options->name, "the name")),
                            .state = text_argument(call, options->state, "the state"),
                            .remember_leaf = !options->no_leaf}));
  };
}

Action declare_load(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  add_thread(syntax, options->thread);
  syntax.add_option("name", options->latest_or_name, "The checkpoint (default: the latest)")
      ->type_name("NAME");
  return [options](Invocation& call) {
    const ThreadId thread = resolve_thread(call, options->thread).id;
    const Checkpoints checkpoints = call.store().checkpoints();
    const auto found = options->latest_or_name
                           ? checkpoints.get(thread, CheckpointId(*options->latest_or_name))
                           : checkpoints.latest(thread);
    if (!found) {
      throw Error(ErrorCode::not_found, "thread " + thread.str() + " has no checkpoint");
    }
    if (call.json()) return call.print(checkpoint_json(*found));
    call.out() << escape_for_terminal(found->state, Lines::multiple) << '\n';
  };
}

Action declare_list_checkpoints(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  add_thread(syntax, options->thread);
  add_paging(syntax, options->paging);
  return [options](Invocation& call) {
    const ThreadId thread = resolve_thread(call, options->thread).id;
    const auto page = call.store().checkpoints().list(
        thread, {.limit = options->paging.limit, .after = options->paging.after});
    Table table({"NAME", "SAVED", "LEAF", "BYTES", "STATE"});
    for (const Checkpoint& checkpoint : page.items) {
      if (checkpoint.state_damaged) {
        call.warn("the state of checkpoint '" + checkpoint.checkpoint_id.str() +
                  "' is damaged: it is not valid JSON");
        call.set_exit_code(exit_damaged);
      }
      table.add({{checkpoint.checkpoint_id.str(), Tone::strong},
                 {short_local_time(checkpoint.created_at, call.now())},
                 {where(checkpoint), Tone::mark},
                 {std::to_string(checkpoint.state.size())},
                 {std::string(cut_at_code_point(checkpoint.state, 200)),
                  checkpoint.state_damaged ? Tone::bad : Tone::faint}});
    }
    if (call.json()) return print_page(call, page, checkpoint_json);
    table.print(call.out(), call.style(), table_width(STDOUT_FILENO));
    note_next(call, page.next);
  };
}

Action declare_restore(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  add_thread(syntax, options->thread);
  add_name(syntax, options->name);
  return [options](Invocation& call) {
    const ThreadId thread = resolve_thread(call, options->thread).id;
    print_done(call, "restored",
               call.store().checkpoints().restore(thread, CheckpointId(options->name)));
  };
}

Action declare_delete_checkpoint(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  add_thread(syntax, options->thread);
  add_name(syntax, options->name);
  return [options](Invocation& call) {
    const ThreadId thread = resolve_thread(call, options->thread).id;
    if (!call.store().checkpoints().remove(thread, CheckpointId(options->name))) {
      throw Error(ErrorCode::not_found,
                  "there is no checkpoint '" + options->name + "' of thread " + thread.str());
    }
    if (call.json()) {
      return call.print({{"thread_id", thread.str()}, {"checkpoint_id", options->name}});
    }
    call.out() << "deleted " << escape_for_terminal(options->name) << '\n';
  };
}

constexpr std::array kVerbs{
    verb("save", Access::writing, declare_save, "Keep a named snapshot of a thread",
         "checkpoint save @last before-merge --state '{\"step\":7}'"),
    verb("load", Access::reading, declare_load, "Print a checkpoint's state, or the latest one's",
         "checkpoint load @last before-merge"),
    verb("list", Access::reading, declare_list_checkpoints,
         "List a thread's checkpoints, latest first", "checkpoint list @last"),
    verb("restore", Access::writing, declare_restore,
         "Switch the thread back to where a checkpoint was saved",
         "checkpoint restore @last before-merge"),
    verb("delete", Access::writing, declare_delete_checkpoint, "Delete a checkpoint",
         "checkpoint delete @last before-merge"),
};

}  // namespace

std::span<const Command> checkpoint_verbs() { return kVerbs; }

}  // namespace threadstore::cli
