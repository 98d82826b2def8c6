#include "cli/commands/workflow_parts.h"

#include <memory>

namespace threadstore::cli {
namespace {

struct Options {
  std::string run, id, name, node, second;
  std::optional<std::string> branch, input_hash, first_json, second_json;
  std::string status = "completed";
  std::optional<double> score;
  std::optional<bool> passed;
};

void add_run(Syntax& syntax, Options& options) {
  syntax.add_option("run", options.run, "The workflow run")->type_name("RUN")->required();
  syntax.add_option("--id", options.id, "Its id (default: a new UUIDv7)")->type_name("ID");
}

void add_part(Syntax& syntax, Options& options, const std::string& help) {
  syntax.add_option("id", options.id, help)->type_name("ID")->required();
}

void add_word(Syntax& syntax, const std::string& name, std::string& value,
              const std::string& help) {
  syntax.add_option(name, value, help)->type_name("TEXT")->required();
}

void add_json(Syntax& syntax, const std::string& name, std::optional<std::string>& value,
              const std::string& help) {
  syntax.add_option(name, value, help + ", any JSON value; - reads standard input")
      ->type_name("JSON");
}

void add_verdict(Syntax& syntax, Options& options) {
  syntax.add_option("--score", options.score, "How good it is")->type_name("X");
  syntax.add_option("--passed", options.passed, "Whether it passed: true or false")
      ->type_name("BOOL");
  add_json(syntax, "--rationale", options.first_json, "Why");
}

template <class Id>
std::optional<Id> given_id(const std::optional<std::string>& given) {
  if (!given) return std::nullopt;
  return Id(*given);
}

}  // namespace

Action declare_start_branch(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  add_run(syntax, *options);
  add_word(syntax, "--branch", options->name, "Which branch of the workflow");
  add_word(syntax, "--node", options->node, "The node that it leaves");
  return [options](Invocation& call) {
    print_started(call, call.store().workflows().start(
                            BranchRun{.id = BranchRunId(options->id),
                                      .workflow_run_id = WorkflowRunId(options->run),
                                      .branch_id = options->name,
                                      .node_id = options->node}));
  };
}

Action declare_start_leaf(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  add_run(syntax, *options);
  add_word(syntax, "--leaf", options->name, "Which leaf of the workflow");
  add_word(syntax, "--task", options->second, "The task that it does");
  syntax.add_option("--branch", options->branch, "The branch run that it belongs to")
      ->type_name("ID");
  syntax.add_option("--input-hash", options->input_hash, "Names its input, for `workflow replay`")
      ->type_name("HASH");
  return [options](Invocation& call) {
    print_started(call, call.store().workflows().start(
                            LeafRun{.id = LeafRunId(options->id),
                                    .workflow_run_id = WorkflowRunId(options->run),
                                    .branch_run_id = given_id<BranchRunId>(options->branch),
                                    .leaf_id = options->name,
                                    .task_id = options->second,
                                    .input_hash = options->input_hash}));
  };
}

Action declare_start_node(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  add_run(syntax, *options);
  add_word(syntax, "--node", options->node, "Which node of the workflow");
  add_word(syntax, "--kind", options->second, "How it decides");
  return [options](Invocation& call) {
    print_started(call, call.store().workflows().start(
                            ControlNodeRun{.id = ControlNodeRunId(options->id),
                                           .workflow_run_id = WorkflowRunId(options->run),
                                           .node_id = options->node,
                                           .kind = options->second}));
  };
}

Action declare_finish_branch(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  add_part(syntax, *options, "The branch run");
  add_end_status(syntax, options->status);
  add_json(syntax, "--result", options->first_json, "What came out");
  return [options](Invocation& call) {
    print_finished(call, call.store().workflows().finish(
                             BranchRunId(options->id),
                             {.status = end_status(options->status),
                              .result_json = given_json(call, options->first_json)}));
  };
}

Action declare_finish_leaf(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  add_part(syntax, *options, "The leaf run");
  add_end_status(syntax, options->status);
  add_json(syntax, "--output", options->first_json, "What came out");
  add_json(syntax, "--artifacts", options->second_json, "What it made");
  return [options](Invocation& call) {
    print_finished(call, call.store().workflows().finish(
                             LeafRunId(options->id),
                             {.status = end_status(options->status),
                              .output_json = given_json(call, options->first_json),
                              .artifacts_json = given_json(call, options->second_json)}));
  };
}

Action declare_finish_node(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  add_part(syntax, *options, "The control node run");
  add_end_status(syntax, options->status);
  add_json(syntax, "--selected", options->first_json, "The children that go on");
  add_json(syntax, "--result", options->second_json, "What came out");
  return [options](Invocation& call) {
    print_finished(call, call.store().workflows().finish(
                             ControlNodeRunId(options->id),
                             {.status = end_status(options->status),
                              .selected_children_json = given_json(call, options->first_json),
                              .result_json = given_json(call, options->second_json)}));
  };
}

Action declare_candidate(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  add_run(syntax, *options);
  add_word(syntax, "--node", options->node, "The control node run that weighs it");
  add_word(syntax, "--candidate", options->name, "Which candidate it is");
  syntax.add_option("--branch", options->branch, "The branch run that it stands for")
      ->type_name("ID");
  add_verdict(syntax, *options);
  return [options](Invocation& call) {
    TeacherCandidate candidate{.id = TeacherCandidateId(options->id),
                               .workflow_run_id = WorkflowRunId(options->run),
                               .control_node_run_id = ControlNodeRunId(options->node),
                               .candidate_id = options->name,
                               .branch_run_id = given_id<BranchRunId>(options->branch),
                               .score = options->score,
                               .passed = options->passed};
    if (const auto why = given_json(call, options->first_json)) candidate.rationale_json = *why;
    print_started(call, call.store().workflows().add(std::move(candidate)));
  };
}

Action declare_judge(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  add_part(syntax, *options, "The candidate");
  add_verdict(syntax, *options);
  return [options](Invocation& call) {
    print_started(call, call.store().workflows().judge(TeacherCandidateId(options->id),
                                                       options->score, options->passed,
                                                       given_json(call, options->first_json)));
  };
}

}  // namespace threadstore::cli
