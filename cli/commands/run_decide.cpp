#include <pwd.h>
#include <unistd.h>

#include <memory>

#include "cli/app/choices.h"
#include "cli/app/syntax.h"
#include "cli/commands/run_approvals.h"
#include "cli/commands/run_options.h"
#include "cli/resolve/text_argument.h"

namespace threadstore::cli {
namespace {

struct DecideOptions {
  std::string run, call;
  std::optional<std::string> by, reason;
};

struct AnswerOptions {
  std::string run, call, kind;
  std::string observation = "null";
  std::optional<std::string> by;
};

struct ContinueOptions {
  std::string run, input;
  std::optional<std::string> state;
  std::int64_t schema_version = 1;
  std::int64_t turn = 0;
};

void add_call(Syntax& syntax, std::string& call) {
  syntax.add_option("call", call, "The call's id")->type_name("CALL")->required();
}

void add_by(Syntax& syntax, std::optional<std::string>& by) {
  syntax.add_option("--by", by, "Who decides (default: your login name)")->type_name("NAME");
}

Action declare_decision(Syntax& syntax, ApprovalDecision decision) {
  auto options = std::make_shared<DecideOptions>();
  add_run(syntax, options->run);
  syntax.add_option("call", options->call, "The call's id, or #N for request N")
      ->type_name("CALL")
      ->required();
  add_by(syntax, options->by);
  syntax.add_option("--reason", options->reason, "Why")->type_name("TEXT");
  return [options, decision](Invocation& call) {
    const Run run = resolve_run(call, options->run);
    const Decision made{.decision = decision,
                        .decided_by = decider(options->by),
                        .reason = line_argument(call, options->reason, "the reason")};
    if (const auto request = request_number(options->call)) {
      print_approval(call, decide_request(runs_of(call), run, *request, made));
    } else {
      print_approval(call, runs_of(call).calls().decide(run.id, CallId(options->call), made));
    }
    if (call.json()) return;
    if (run.lifecycle == RunLifecycle::suspended) {
      call.note("the run still waits: `threadstore run continue` lets it go on");
    }
  };
}

}  // namespace

std::string decider(const std::optional<std::string>& given) {
  if (given) return *given;
  const passwd* user = ::getpwuid(::getuid());
  return user != nullptr && user->pw_name[0] != '\0' ? user->pw_name
                                                     : "user " + std::to_string(::getuid());
}

Action declare_run_approve(Syntax& syntax) {
  return declare_decision(syntax, ApprovalDecision::granted);
}

Action declare_run_deny(Syntax& syntax) {
  return declare_decision(syntax, ApprovalDecision::denied);
}

Action declare_run_answer(Syntax& syntax) {
  auto options = std::make_shared<AnswerOptions>();
  add_run(syntax, options->run);
  add_call(syntax, options->call);
  syntax
      .add_option("answer", options->kind,
                  "completed: it happened; retry: run it again; abort: give the run up")
      ->check(one_of<EffectAnswer::Kind>())
      ->type_name("")
      ->required();
  syntax.add_option("--observation", options->observation, "The call's result, when it happened")
      ->type_name("JSON");
  add_by(syntax, options->by);
  return [options](Invocation& call) {
    const Run run = resolve_run(call, options->run);
    EffectAnswer answer{
        .call = CallId(options->call),
        .kind = from_word<EffectAnswer::Kind>(options->kind).value_or(EffectAnswer::Kind::abort),
        .observation = text_argument(call, options->observation, "the observation"),
        .answered_by = decider(options->by)};
    print_run(call, runs_of(call).answer_effect(run.id, answer));
  };
}

Action declare_run_continue(Syntax& syntax) {
  auto options = std::make_shared<ContinueOptions>();
  add_run(syntax, options->run);
  syntax.add_option("--input", options->input, "The answer; - reads standard input")
      ->type_name("TEXT")
      ->required();
  auto* state = syntax.add_option("--state", options->state,
                                  "A checkpoint to go on from (default: the newest stays)");
  state->type_name("JSON");
  syntax.add_option("--schema-version", options->schema_version, "Of that state (default: 1)")
      ->type_name("N")
      ->needs(state);
  syntax.add_option("--turn", options->turn, "Of that state (default: 0)")
      ->type_name("N")
      ->needs(state);
  return [options](Invocation& call) {
    Runs runs = runs_of(call);
    const Run run = resolve_run(call, options->run);
    Continuation continuation{.expected_sequence = run.last_sequence,
                              .input = text_argument(call, options->input, "the answer")};
    const auto suspension = runs.latest_suspension(run.id);
    if (!suspension) {
      throw Error(ErrorCode::conflict, "run " + run.id.str() + " does not wait for anything");
    }
    continuation.suspension_sequence = suspension->sequence;
    if (options->state) {
      continuation.checkpoint =
          NewRunCheckpoint{.schema_version = options->schema_version,
                           .turn = options->turn,
                           .state = text_argument(call, *options->state, "the state")};
    }
    print_run(call, runs.continue_suspended(run.id, continuation));
  };
}

Action declare_run_reopen(Syntax& syntax) {
  auto given = std::make_shared<std::string>();
  auto expected = std::make_shared<std::optional<std::int64_t>>();
  add_run(syntax, *given);
  syntax.add_option("--expect", *expected, "Only when its last event is that one")
      ->type_name("SEQ");
  return [given, expected](Invocation& call) {
    const Run run = resolve_run(call, *given);
    print_run(call, runs_of(call).reopen(run.id, expected->value_or(run.last_sequence)));
  };
}

Action declare_run_cancel(Syntax& syntax) {
  auto given = std::make_shared<std::string>();
  auto reason = std::make_shared<std::string>();
  add_run(syntax, *given);
  syntax.add_option("--reason", *reason, "Why, for a run that waits")->type_name("TEXT");
  return [given, reason](Invocation& call) {
    Runs runs = runs_of(call);
    const Run run = resolve_run(call, *given);
    print_run(call, run.lifecycle == RunLifecycle::suspended
                        ? runs.abandon(run.id, line_argument(call, *reason, "the reason"))
                        : runs.finish(run.id, RunEnd::cancelled()));
  };
}

Action declare_run_raise(Syntax& syntax) {
  auto given = std::make_shared<std::string>();
  auto more = std::make_shared<RunBudgets>();
  add_run(syntax, *given);
  add_budgets(syntax, *more);
  return [given, more](Invocation& call) {
    const Run run = resolve_run(call, *given);
    RunBudgets budgets = run.budgets;
    if (more->max_turns) budgets.max_turns = more->max_turns;
    if (more->timeout_seconds) budgets.timeout_seconds = more->timeout_seconds;
    if (more->max_total_tokens) budgets.max_total_tokens = more->max_total_tokens;
    if (more->max_tool_calls) budgets.max_tool_calls = more->max_tool_calls;
    if (more->max_context_bytes) budgets.max_context_bytes = more->max_context_bytes;
    print_run(call, runs_of(call).accounts().raise(run.id, budgets));
  };
}

}  // namespace threadstore::cli
