#include <memory>

#include "cli/app/choices.h"
#include "cli/app/syntax.h"
#include "cli/commands/commands.h"
#include "cli/commands/paging_options.h"
#include "cli/commands/run_options.h"
#include "cli/resolve/moment.h"
#include "cli/resolve/text_argument.h"
#include "cli/resolve/thread_ref.h"
#include "threadstore/transfer.h"

namespace threadstore::cli {
namespace {

struct StartOptions {
  std::string agent, agent_version = "1", model, input;
  std::optional<std::string> thread, key;
  RunBudgets budgets;
};

struct ListOptions {
  std::optional<std::string> lifecycle, outcome, thread, agent, since;
  bool roots = false;
  bool interrupted = false;
  PagingOptions paging{.limit = 50, .after = {}};
};

Action declare_start(Syntax& syntax) {
  auto options = std::make_shared<StartOptions>();
  syntax.add_option("--agent", options->agent, "Who works")->type_name("NAME")->required();
  syntax.add_option("--agent-version", options->agent_version, "Its version (default: 1)")
      ->type_name("V");
  syntax.add_option("--model", options->model, "With which model")->type_name("MODEL")->required();
  syntax.add_option("--input", options->input, "What it is to do; - reads standard input")
      ->type_name("TEXT");
  syntax.add_option("--thread", options->thread, "The thread that it belongs to")
      ->type_name("THREAD");
  syntax.add_option("--key", options->key, "Idempotency key: a retry with it starts nothing twice")
      ->type_name("K");
  add_budgets(syntax, options->budgets);
  return [options](Invocation& call) {
    NewRun run{.agent_name = line_argument(call, options->agent, "the agent"),
               .agent_version = line_argument(call, options->agent_version, "the version"),
               .model = line_argument(call, options->model, "the model"),
               .input = text_argument(call, options->input, "the input"),
               .budgets = options->budgets,
               .key = line_argument(call, options->key, "the key")};
    if (options->thread) run.thread_id = resolve_thread(call, *options->thread).id;
    const Run started = runs_of(call).create(run);
    if (call.json()) return call.print(run_json(started));
    call.out() << started.id.str() << '\n';
  };
}

template <class Enum>
void add_words(Syntax& syntax, const char* name, std::optional<std::string>& word,
               const char* help) {
  syntax.add_option(name, word, help)->check(one_of<Enum>())->type_name("");
}

/// The workspaces beside this one that have runs: "3 runs are in other workspaces: …".
std::string other_workspaces(const std::vector<RunWorkspace>& others) {
  constexpr std::size_t most_named = 5;
  std::int64_t runs = 0;
  std::string names;
  for (std::size_t i = 0; i < others.size(); ++i) {
    runs += others[i].runs;
    if (i < most_named) names += "\n  " + others[i].workspace_id;
  }
  if (others.size() > most_named) names += "\n  …";
  return std::to_string(runs) + (runs == 1 ? " run is" : " runs are") +
         " in other workspaces; `threadstore --workspace NAME run list` shows those of NAME:" +
         names;
}

/// Says why a list is empty, and what else there is.
void note_no_runs(Invocation& call, const std::string& workspace) {
  auto others = Transfer(call.store()).run_workspaces();
  const auto own = std::erase_if(
      others, [&](const RunWorkspace& other) { return other.workspace_id == workspace; });
  if (own > 0) return call.note("no run matches; `threadstore run list` shows every one");
  if (others.empty()) {
    return call.note(
        "no runs yet; every answer of `threadstore chat` is one, and so is what "
        "`threadstore run start` starts");
  }
  call.note("the workspace " + workspace + " has no runs; " + other_workspaces(others));
}

Action declare_list_runs(Syntax& syntax) {
  auto options = std::make_shared<ListOptions>();
  add_words<RunLifecycle>(syntax, "--lifecycle", options->lifecycle, "Only runs that stand there");
  add_words<RunOutcome>(syntax, "--outcome", options->outcome, "Only runs that stopped so");
  syntax.add_option("--thread", options->thread, "Only runs of that thread")->type_name("THREAD");
  syntax.add_option("--agent", options->agent, "Only runs of that agent")->type_name("NAME");
  syntax.add_option("--since", options->since, "Only runs started since then")->type_name("T");
  syntax.add_flag("--roots", options->roots, "Without runs that another run delegated");
  syntax.add_flag("--interrupted", options->interrupted, "Only runs whose process died");
  add_paging(syntax, options->paging);
  return [options](Invocation& call) {
    RunFilter filter{.agent_name = options->agent,
                     .roots_only = options->roots,
                     .interrupted_only = options->interrupted,
                     .limit = options->paging.limit,
                     .after = options->paging.after};
    if (options->lifecycle) filter.lifecycle = from_word<RunLifecycle>(*options->lifecycle);
    if (options->outcome) filter.outcome = from_word<RunOutcome>(*options->outcome);
    if (options->thread) filter.thread = resolve_thread(call, *options->thread).id;
    if (options->since) filter.created_since = parse_moment(*options->since, call.now()) * 1000;
    const Runs runs = runs_of(call);
    const auto page = runs.list(filter);
    if (call.json()) return print_page(call, page, run_json);
    if (page.items.empty()) return note_no_runs(call, runs.workspace());
    print_runs(call, page.items);
    note_next(call, page.next);
  };
}

Action declare_show_run(Syntax& syntax) {
  auto given = std::make_shared<std::string>();
  add_run(syntax, *given);
  return [given](Invocation& call) {
    const Run run = resolve_run(call, *given);
    if (call.json()) return call.print(run_json(run));
    print_story(call, runs_of(call), run);
  };
}

constexpr std::array kVerbs{
    verb("start", Access::writing, declare_start, "Start a run and print its id",
         "run start --agent coder --model m-1 --input 'fix the parser'"),
    verb("list", Access::reading, declare_list_runs, "List the runs of a workspace, newest first",
         "run list --outcome failed"),
    verb("show", Access::reading, declare_show_run, "Tell what a run did", "run show @last"),
    verb("events", Access::reading, declare_run_events, "Print the log of a run",
         "run events @last --after 10 --json"),
    verb("tail", Access::reading, declare_run_tail, "Print new events of all runs as they come",
         "run tail --follow"),
    verb("steps", Access::reading, declare_run_steps, "List the steps of a run, or print one",
         "run steps @last --committed"),
    verb("trace", Access::reading, declare_run_trace,
         "Print what was refused, decided, delegated, run in a sandbox and committed",
         "run trace @last --kind policy,sandbox"),
    verb("tree", Access::reading, declare_run_tree, "Draw a run and the runs below it",
         "run tree @last"),
    verb("usage", Access::reading, declare_run_usage,
         "Show what a run used of its budgets, and its tree by model", "run usage @last"),
    verb("append", Access::writing, declare_run_append, "Log an event of your own",
         "run append @last note.plan --payload '{\"steps\":3}'"),
    verb("request", Access::writing, declare_run_request, "Log that a tool is to be called",
         "run request @last call-1 shell --ask process_execute"),
    verb("begin", Access::writing, declare_run_begin, "Log that a call begins",
         "run begin @last call-1"),
    verb("end", Access::writing, declare_run_end, "Log how a call ended",
         "run end @last call-1 --result '{\"exit\":0}'"),
    verb("commit", Access::writing, declare_run_commit, "Store a step that is done",
         "run commit @last 3 --decision 'run the tests' --tokens 812"),
    verb("spawn", Access::writing, declare_run_spawn,
         "Start a run below a step, or find the one that it started",
         "run spawn @last --step 3 --goal 'write the test'"),
    verb("ask", Access::writing, declare_run_ask, "Ask for a decision before a step goes on",
         "run ask @last --step 3 --act exec --target 'make install'"),
    verb("resume", Access::writing, declare_run_resume,
         "Go on behind the last committed step, and say which is next", "run resume @last"),
    verb("finish", Access::writing, declare_run_finish, "Stop a run, and say how",
         "run finish @last --output 'fixed'"),
    verb("approvals", Access::reading, declare_run_approvals, "List what waits for a decision",
         "run approvals"),
    verb("approve", Access::writing, declare_run_approve, "Allow a call or request that waits",
         "run approve @last call-1"),
    verb("deny", Access::writing, declare_run_deny, "Forbid a call or request that waits",
         "run deny @last call-1 --reason 'not on this machine'"),
    verb("answer", Access::writing, declare_run_answer,
         "Say what became of a call whose process died", "run answer @last call-1 retry"),
    verb("continue", Access::writing, declare_run_continue, "Answer a run that waits",
         "run continue @last --input 'take the left one'"),
    verb("reopen", Access::writing, declare_run_reopen, "Make a stopped run active again",
         "run reopen @last"),
    verb("cancel", Access::writing, declare_run_cancel, "Stop a run and those below it",
         "run cancel @last"),
    verb("raise", Access::writing, declare_run_raise, "Give a run larger budgets",
         "run raise @last --max-turns 50"),
    verb("checkpoint", Access::reading, declare_run_checkpoint,
         "Print a run's newest checkpoint, or list them", "run checkpoint @last --list"),
    verb("artifacts", Access::reading, declare_run_artifacts, "List the files that a run made",
         "run artifacts @last"),
    verb("verify", Access::reading, declare_run_verify, "Compare a run with its log",
         "run verify @last"),
    verb("rebuild", Access::writing, declare_run_rebuild, "Make a run again from its log",
         "run rebuild @last"),
};

}  // namespace

void add_budgets(Syntax& syntax, RunBudgets& budgets) {
  syntax.add_option("--max-turns", budgets.max_turns, "Model turns at most")->type_name("N");
  syntax.add_option("--timeout", budgets.timeout_seconds, "Seconds at most")->type_name("N");
  syntax.add_option("--max-tokens", budgets.max_total_tokens, "Tokens at most")->type_name("N");
  syntax.add_option("--max-tool-calls", budgets.max_tool_calls, "Tool calls at most")
      ->type_name("N");
  syntax.add_option("--max-context-bytes", budgets.max_context_bytes, "Bytes of context at most")
      ->type_name("N");
}

void print_run(Invocation& call, const Run& run) {
  if (call.json()) return call.print(run_json(run));
  print_runs(call, {run});
}

std::span<const Command> run_verbs() { return kVerbs; }

}  // namespace threadstore::cli
