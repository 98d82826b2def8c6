#include <unistd.h>

#include <array>
#include <memory>

#include "cli/app/choices.h"
#include "cli/app/invocation.h"
#include "cli/app/syntax.h"
#include "cli/commands/commands.h"
#include "cli/commands/paging_options.h"
#include "cli/commands/workflow_parts.h"
#include "cli/output/table.h"
#include "cli/output/workflow_json.h"
#include "cli/output/workflow_text.h"
#include "cli/resolve/text_argument.h"
#include "cli/terminal/local_time.h"
#include "cli/terminal/text.h"

namespace threadstore::cli {
namespace {

struct Options {
  std::string id, workflow, goal, leaf, hash;
  std::string status = "completed";
  std::optional<std::string> input_hash, metadata, workflow_filter, status_filter;
  PagingOptions paging;
};

void add_run(Syntax& syntax, std::string& id) {
  syntax.add_option("run", id, "The workflow run")->type_name("RUN")->required();
}

Action declare_start_run(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  syntax.add_option("--workflow", options->workflow, "Which workflow runs")
      ->type_name("W")
      ->required();
  syntax.add_option("--goal", options->goal, "What it should reach")->type_name("TEXT")->required();
  syntax.add_option("--id", options->id, "The run's id (default: a new UUIDv7)")->type_name("ID");
  syntax.add_option("--input-hash", options->input_hash, "Names its input")->type_name("HASH");
  syntax.add_option("--metadata", options->metadata, "Any JSON value")->type_name("JSON");
  return [options](Invocation& call) {
    WorkflowRun run{.id = WorkflowRunId(valid_text(call, options->id, "the id")),
                    .workflow_id = line_argument(call, options->workflow, "the workflow"),
                    .goal = text_argument(call, options->goal, "the goal"),
                    .input_hash = line_argument(call, options->input_hash, "the input hash")};
    if (options->metadata) {
      run.metadata_json = text_argument(call, *options->metadata, "the metadata");
    }
    print_started(call, call.store().workflows().start(std::move(run)));
  };
}

Action declare_finish_run(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  add_run(syntax, options->id);
  add_end_status(syntax, options->status);
  syntax.add_option("--metadata", options->metadata, "Any JSON value (default: as started)")
      ->type_name("JSON");
  return [options](Invocation& call) {
    print_finished(call, call.store().workflows().finish(
                             WorkflowRunId(options->id),
                             {.status = end_status(options->status),
                              .metadata_json = given_json(call, options->metadata)}));
  };
}

Action declare_show_run(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  add_run(syntax, options->id);
  return [options](Invocation& call) {
    const WorkflowTrace trace = call.store().workflows().trace(WorkflowRunId(options->id));
    if (call.json()) return call.print(workflow_json(trace));
    print_trace(call.out(), trace, call.style());
  };
}

Action declare_list_runs(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  options->paging.limit = 50;
  syntax.add_option("--status", options->status_filter, "Only runs with that status")
      ->check(one_of<TraceStatus>())
      ->type_name("");
  syntax.add_option("--workflow", options->workflow_filter, "Only runs of that workflow")
      ->type_name("W");
  add_paging(syntax, options->paging);
  return [options](Invocation& call) {
    WorkflowFilter filter{.workflow_id = options->workflow_filter,
                          .limit = options->paging.limit,
                          .after = options->paging.after};
    if (options->status_filter) filter.status = from_word<TraceStatus>(*options->status_filter);
    const auto page = call.store().workflows().list(filter);
    if (call.json()) return print_page<WorkflowRun>(call, page, workflow_json);
    Table table({"ID", "STARTED", "STATUS", "WORKFLOW", "GOAL"});
    for (const WorkflowRun& run : page.items) {
      table.add({{run.id.str(), Tone::mark},
                 {short_local_time(run.started_at, call.now())},
                 {std::string(to_word(run.status)), tone_of(run.status)},
                 {run.workflow_id},
                 {run.goal, Tone::strong}});
    }
    table.print(call.out(), call.style(), table_width(STDOUT_FILENO));
    note_next(call, page.next);
  };
}

Action declare_replay(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  add_run(syntax, options->id);
  syntax.add_option("leaf", options->leaf, "The leaf")->type_name("LEAF")->required();
  syntax.add_option("hash", options->hash, "The hash of its input")->type_name("HASH")->required();
  return [options](Invocation& call) {
    const auto found =
        call.store().workflows().replay(WorkflowRunId(options->id), options->leaf, options->hash);
    if (!found) {
      throw Error(ErrorCode::not_found, "no completed run of leaf '" + options->leaf +
                                            "' with input " + options->hash + " in workflow run " +
                                            options->id);
    }
    if (call.json()) return call.print(workflow_json(*found));
    call.out() << escape_for_terminal(found->output_json, Lines::multiple) << '\n';
  };
}

Action declare_delete_run(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  add_run(syntax, options->id);
  return [options](Invocation& call) {
    if (!call.store().workflows().remove(WorkflowRunId(options->id))) {
      throw Error(ErrorCode::not_found, "there is no workflow run " + options->id);
    }
    if (call.json()) return call.print({{"id", options->id}});
    call.out() << "deleted " << escape_for_terminal(options->id) << '\n';
  };
}

constexpr std::array kVerbs{
    verb("start", Access::writing, declare_start_run, "Start a workflow run and print its id",
         "workflow start --workflow review --goal 'Review the change'"),
    verb("start-branch", Access::writing, declare_start_branch, "Start a branch of a run",
         "workflow start-branch RUN --branch b1 --node split"),
    verb("start-leaf", Access::writing, declare_start_leaf, "Start a leaf of a run",
         "workflow start-leaf RUN --leaf lint --task t1 --input-hash 4f2a"),
    verb("start-node", Access::writing, declare_start_node, "Start a control node of a run",
         "workflow start-node RUN --node choose --kind teacher"),
    verb("finish", Access::writing, declare_finish_run, "Finish a workflow run",
         "workflow finish RUN --status completed"),
    verb("finish-branch", Access::writing, declare_finish_branch, "Finish a branch",
         "workflow finish-branch ID --result '{\"votes\":2}'"),
    verb("finish-leaf", Access::writing, declare_finish_leaf, "Finish a leaf",
         "workflow finish-leaf ID --output '{\"ok\":true}'"),
    verb("finish-node", Access::writing, declare_finish_node, "Finish a control node",
         "workflow finish-node ID --selected '[\"b1\"]'"),
    verb("candidate", Access::writing, declare_candidate, "Record what a control node weighs",
         "workflow candidate RUN --node ID --candidate c1 --score 0.8 --passed true"),
    verb("judge", Access::writing, declare_judge, "Give a candidate its score and verdict",
         "workflow judge ID --score 0.8 --passed true"),
    verb("show", Access::reading, declare_show_run, "Show a whole run as a tree",
         "workflow show RUN"),
    verb("list", Access::reading, declare_list_runs, "List runs, most recently started first",
         "workflow list --status running"),
    verb("replay", Access::reading, declare_replay, "Find a finished leaf's output by its input",
         "workflow replay RUN lint 4f2a"),
    verb("delete", Access::writing, declare_delete_run, "Delete a run with its whole trace",
         "workflow delete RUN"),
};

}  // namespace

std::span<const Command> workflow_verbs() { return kVerbs; }

}  // namespace threadstore::cli
