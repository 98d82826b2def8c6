#include <memory>

#include "cli/app/choices.h"
#include "cli/app/invocation.h"
#include "cli/app/syntax.h"
#include "cli/commands/commands.h"
#include "cli/commands/thread_argument.h"
#include "cli/output/message_json.h"
#include "cli/output/run_json.h"
#include "cli/output/run_story.h"
#include "cli/output/thread_json.h"
#include "cli/output/thread_table.h"
#include "cli/resolve/message_ref.h"
#include "cli/resolve/run_ref.h"
#include "cli/resolve/thread_ref.h"
#include "cli/terminal/conversation.h"
#include "cli/terminal/text.h"
#include "cli/terminal/tree.h"

namespace threadstore::cli {
namespace {

constexpr std::int64_t kMostShown = 1'000'000;

struct ShowOptions {
  std::string thread;
  std::optional<std::string> leaf, before;
  std::size_t limit = 500;
  bool calls = false;
};

Look look_of(const Invocation& call) {
  return Look::for_standard_output(call.options().color_mode());
}

void print_thread_heading(Invocation& call, const Thread& thread) {
  const std::string name = thread.name.value_or(thread.preview);
  call.out() << call.style().paint(Tone::strong, escape_for_terminal(name.empty() ? "-" : name))
             << "  " << call.style().paint(Tone::faint, escape_for_terminal(thread.id.str()))
             << "  " << shown_status(call.store(), thread) << "\n\n";
}

/// The runs that answered a message, with their calls.
Json turns_json(const Runs& runs, const Thread& thread, const std::vector<Message>& messages) {
  Json turns = Json::array();
  for (const Message& message : messages) {
    for (const Run& run : runs.turns().list(thread.id, message.id)) {
      Json calls = Json::array();
      for (const RunCall& made : runs.calls().list(run.id)) calls.push_back(call_json(made));
      turns.push_back({{"message_id", to_int(message.id)},
                       {"run", run_json(run)},
                       {"calls", std::move(calls)}});
    }
  }
  return turns;
}

void print_turn(Invocation& call, const Runs& runs, const Run& run) {
  const Style& style = call.style();
  call.out() << "  "
             << style.paint(Tone::mark, "run " + run.id.str().substr(run.id.str().size() - 8))
             << "  " << style.paint(tone_of_state(run), shown_state(run)) << "  "
             << shown_duration(run.elapsed_ms) << '\n';
  for (const RunCall& made : runs.calls().list(run.id)) {
    call.out() << "    " << escape_for_terminal(made.tool_name) << ' '
               << cut_to_width(escape_for_terminal(made.arguments), 60) << "  "
               << to_word(made.status)
               << (made.error ? ": " + escape_for_terminal(*made.error) : std::string()) << '\n';
  }
}

void print_with_turns(Invocation& call, const Runs& runs, const Thread& thread,
                      const std::vector<Message>& messages) {
  for (const Message& message : messages) {
    if (&message != &messages.front()) call.out() << '\n';
    print_message(call.out(), message, look_of(call));
    for (const Run& run : runs.turns().list(thread.id, message.id)) print_turn(call, runs, run);
  }
}

void show(Invocation& call, const ShowOptions& options) {
  const Thread thread = resolve_thread(call, options.thread);
  const StateStore& store = call.store();
  const BranchPage page =
      store.messages().list(thread.id, {.leaf = find_message(store, thread, options.leaf),
                                        .before = find_message(store, thread, options.before),
                                        .limit = options.limit});
  if (call.json()) {
    Json messages = Json::array();
    for (const Message& message : page.messages) messages.push_back(message_json(message));
    Json document{
        {"thread", thread_json(thread)}, {"messages", std::move(messages)}, {"more", page.more}};
    if (options.calls) {
      document["turns"] = turns_json(runs_of_thread(call, store, thread), thread, page.messages);
    }
    return call.print(document);
  }
  print_thread_heading(call, thread);
  if (page.more) {
    call.note("older messages are not shown; --before " +
              std::to_string(to_int(page.messages.front().id)) + " reads on");
  }
  if (options.calls) {
    return print_with_turns(call, runs_of_thread(call, store, thread), thread, page.messages);
  }
  print_conversation(call.out(), page.messages, look_of(call));
}

void print_json_tree(Invocation& call, const Thread& thread, const std::vector<TreeNode>& nodes) {
  Json items = Json::array();
  for (const TreeNode& node : nodes) items.push_back(node_json(node));
  call.print({{"thread", thread_json(thread)}, {"nodes", std::move(items)}});
}

}  // namespace

Action declare_show(Syntax& syntax) {
  auto options = std::make_shared<ShowOptions>();
  add_thread(syntax, options->thread);
  syntax
      .add_option("--leaf", options->leaf, "The branch that ends there (default: the current leaf)")
      ->type_name("MESSAGE");
  syntax.add_option("--limit", options->limit, "The last N messages (default: 500)")
      ->type_name("N")
      ->check(whole_number(1, kMostShown));
  syntax.add_option("--before", options->before, "Only what comes before that message")
      ->type_name("MESSAGE");
  syntax.add_flag("--calls", options->calls,
                  "With the runs that answered each message, and their calls");
  return [options](Invocation& call) { show(call, *options); };
}

Action declare_tree(Syntax& syntax) {
  auto given = std::make_shared<std::string>();
  add_thread(syntax, *given);
  return [given](Invocation& call) {
    const Thread thread = resolve_thread(call, *given);
    const auto nodes = call.store().messages().tree(thread.id);
    if (call.json()) return print_json_tree(call, thread, nodes);
    print_thread_heading(call, thread);
    print_tree(call.out(), nodes, look_of(call));
  };
}

Action declare_leaves(Syntax& syntax) {
  auto given = std::make_shared<std::string>();
  add_thread(syntax, *given);
  return [given](Invocation& call) {
    const Thread thread = resolve_thread(call, *given);
    const auto leaves = call.store().messages().leaves(thread.id);
    if (!call.json()) return print_conversation(call.out(), leaves, look_of(call));
    Json items = Json::array();
    for (const Message& leaf : leaves) items.push_back(message_json(leaf));
    call.print({{"items", std::move(items)}});
  };
}

}  // namespace threadstore::cli
