#include <unistd.h>

#include <memory>

#include "cli/app/syntax.h"
#include "cli/commands/paging_options.h"
#include "cli/commands/run_options.h"
#include "cli/output/run_trace_json.h"
#include "cli/output/table.h"
#include "cli/resolve/text_argument.h"
#include "cli/terminal/local_time.h"
#include "cli/terminal/text.h"

// The steps of a run: reading them, and what a harness that is a script does with them.
namespace threadstore::cli {
namespace {

struct StepsOptions {
  std::string run;
  std::optional<std::int64_t> step;
  bool committed = false;
  PagingOptions paging;
};

struct CommitOptions {
  std::string run;
  NewStep step;
  bool attempt = false;
};

struct SpawnOptions {
  std::string run;
  NewSpawn spawn;
};

/// A text of a step under its heading; nothing when it is empty.
void print_text(Invocation& call, const char* heading, const std::string& text) {
  if (text.empty()) return;
  call.out() << call.style().paint(Tone::faint, heading) << '\n'
             << escape_for_terminal(text, Lines::multiple) << '\n';
}

std::string place_of(const RunStep& step) {
  return "step " + std::to_string(step.step) + ", attempt " + std::to_string(step.attempt);
}

/// The attempts at one step, with all that they hold.
void print_whole(Invocation& call, const RunStep& step) {
  call.out() << call.style().paint(Tone::strong, place_of(step)) << "  "
             << (step.committed_sequence ? "committed" : "not committed") << ", " << step.tokens
             << " tokens\n";
  print_text(call, "prompt", step.prompt);
  print_text(call, "decision", step.decision);
  print_text(call, "tool call", step.tool_call);
  print_text(call, "result", step.result);
}

void print_steps(Invocation& call, const std::vector<RunStep>& steps) {
  Table table({"STEP", "TRY", "STORED", "TOKENS", "COMMITTED", "DECISION"});
  for (const RunStep& step : steps) {
    table.add({{std::to_string(step.step), Tone::mark},
               {std::to_string(step.attempt)},
               {short_local_time(step.created_at / 1000, call.now())},
               {std::to_string(step.tokens)},
               {step.committed_sequence ? "yes" : "no",
                step.committed_sequence ? Tone::good : Tone::faint},
               {step.decision}});
  }
  table.print(call.out(), call.style(), table_width(STDOUT_FILENO));
}

Option* add_step(Syntax& syntax, std::int64_t& step) {
  return syntax.add_option("--step", step, "At which step")->type_name("N");
}

}  // namespace

Action declare_run_steps(Syntax& syntax) {
  auto options = std::make_shared<StepsOptions>();
  add_run(syntax, options->run);
  syntax.add_option("step", options->step, "Print this one with all that it holds")
      ->type_name("STEP");
  syntax.add_flag("--committed", options->committed, "Without attempts that were not committed");
  add_paging(syntax, options->paging);
  return [options](Invocation& call) {
    const Run run = resolve_run(call, options->run);
    auto page = runs_of(call).steps().list(run.id, {.from_step = options->step.value_or(0),
                                                    .committed_only = options->committed,
                                                    .limit = options->paging.limit,
                                                    .after = options->paging.after});
    if (options->step) {
      std::erase_if(page.items, [&](const RunStep& step) { return step.step != *options->step; });
      page.next.reset();
      if (page.items.empty()) {
        throw Error(ErrorCode::not_found, "run " + run.id.str() + " has no step " +
                                              std::to_string(*options->step) +
                                              "; `threadstore run steps` lists them");
      }
    }
    if (call.json()) return print_page(call, page, step_json);
    if (!options->step) print_steps(call, page.items);
    if (options->step) {
      for (const RunStep& step : page.items) print_whole(call, step);
    }
    note_next(call, page.next);
  };
}

Action declare_run_commit(Syntax& syntax) {
  auto options = std::make_shared<CommitOptions>();
  add_run(syntax, options->run);
  syntax.add_option("step", options->step.step, "Its number, from 1")
      ->type_name("STEP")
      ->required();
  syntax.add_option("--decision", options->step.decision, "What was decided; - reads stdin")
      ->type_name("TEXT");
  syntax.add_option("--result", options->step.result, "What came of it")->type_name("TEXT");
  syntax.add_option("--prompt", options->step.prompt, "What the model was asked")
      ->type_name("TEXT");
  syntax.add_option("--tool-call", options->step.tool_call, "What it called")->type_name("TEXT");
  syntax.add_option("--tokens", options->step.tokens, "What it cost")->type_name("N");
  syntax.add_flag("--attempt", options->attempt, "Only an attempt: another one follows");
  return [options](Invocation& call) {
    const Run run = resolve_run(call, options->run);
    NewStep step = options->step;
    step.decision = text_argument(call, step.decision, "the decision");
    step.result = text_argument(call, step.result, "the result");
    step.prompt = text_argument(call, step.prompt, "the prompt");
    step.tool_call = text_argument(call, step.tool_call, "the tool call");
    RunSteps steps = runs_of(call).steps();
    const RunStep stored =
        options->attempt ? steps.record(run.id, step) : steps.commit(run.id, step);
    if (call.json()) return call.print(step_json(stored));
    call.out() << place_of(stored) << '\n';
  };
}

Action declare_run_resume(Syntax& syntax) {
  auto given = std::make_shared<std::string>();
  auto detail = std::make_shared<std::string>();
  add_run(syntax, *given);
  syntax.add_option("--detail", *detail, "Why it had stopped")->type_name("TEXT");
  return [given, detail](Invocation& call) {
    const Run run = resolve_run(call, *given);
    const ResumePoint point =
        runs_of(call).steps().resume(run.id, line_argument(call, *detail, "the detail"));
    if (call.json()) {
      return call.print({{"run_id", run.id.str()},
                         {"resumed", point.resumed},
                         {"committed", point.committed},
                         {"from_step", point.from_step}});
    }
    if (point.resumed) {
      call.out() << "goes on with step " << point.from_step << '\n';
    } else {
      call.out() << "is over, behind step " << point.committed << '\n';
    }
  };
}

Action declare_run_spawn(Syntax& syntax) {
  auto options = std::make_shared<SpawnOptions>();
  NewSpawn& spawn = options->spawn;
  add_run(syntax, options->run);
  add_step(syntax, spawn.step)->required();
  syntax.add_option("--ordinal", spawn.ordinal, "Which spawn of that step, from 0")->type_name("K");
  syntax.add_option("--goal", spawn.goal, "What the child is to do")->type_name("TEXT")->required();
  syntax.add_option("--verify-file", spawn.verify_file, "The file that shows it")
      ->type_name("FILE");
  syntax.add_option("--needle", spawn.needle, "What must stand in that file")->type_name("TEXT");
  syntax.add_option("--max-steps", spawn.max_steps, "Steps at most")->type_name("N");
  syntax.add_option("--deny-write", spawn.deny_write, "A JSON array of paths")->type_name("JSON");
  syntax.add_option("--agent", spawn.child.agent_name, "Who works (default: the parent's)")
      ->type_name("NAME");
  syntax.add_option("--model", spawn.child.model, "With which model (default: the parent's)")
      ->type_name("MODEL");
  return [options](Invocation& call) {
    NewSpawn wanted = options->spawn;
    wanted.parent = resolve_run(call, options->run).id;
    wanted.goal = text_argument(call, wanted.goal, "the goal");
    const Spawned spawned = runs_of(call).tree().spawn(wanted);
    if (call.json()) {
      Json document = run_json(spawned.child);
      document["adopted"] = spawned.adopted;
      return call.print(document);
    }
    call.out() << spawned.child.id.str() << '\n';
    if (spawned.adopted) call.note("that step had spawned it before");
  };
}

}  // namespace threadstore::cli
