#include <memory>

#include "cli/app/choices.h"
#include "cli/app/syntax.h"
#include "cli/commands/run_options.h"
#include "cli/resolve/text_argument.h"

// What an executor does with a run, for one that is a script.
namespace threadstore::cli {
namespace {

struct AppendOptions {
  std::string run, type;
  std::string payload = "{}";
};

struct CallOptions {
  std::string run, call, tool;
  std::string arguments = "{}";
  std::vector<std::string> wants;
  std::optional<std::string> result, error;
};

struct FinishOptions {
  std::string run;
  std::optional<std::string> output, error, ask, blocked;
};

void print_call(Invocation& call, const RunCall& done) {
  if (call.json()) return call.print(call_json(done));
  call.out() << to_word(done.status) << '\n';
}

void add_call(Syntax& syntax, CallOptions& options) {
  add_run(syntax, options.run);
  syntax.add_option("call", options.call, "The call's id")->type_name("CALL")->required();
}

}  // namespace

Action declare_run_append(Syntax& syntax) {
  auto options = std::make_shared<AppendOptions>();
  add_run(syntax, options->run);
  syntax.add_option("type", options->type, "What happened, such as note.plan")
      ->type_name("TYPE")
      ->required();
  syntax.add_option("--payload", options->payload, "Any JSON; - reads standard input")
      ->type_name("JSON");
  return [options](Invocation& call) {
    const RunId run = resolve_run(call, options->run).id;
    const std::int64_t sequence = runs_of(call).log().append(
        run, options->type, text_argument(call, options->payload, "the payload"));
    if (call.json()) return call.print({{"run_id", run.str()}, {"sequence", sequence}});
    call.out() << sequence << '\n';
  };
}

Action declare_run_request(Syntax& syntax) {
  auto options = std::make_shared<CallOptions>();
  add_call(syntax, *options);
  syntax.add_option("tool", options->tool, "The tool's name")->type_name("TOOL")->required();
  syntax.add_option("--arguments", options->arguments, "A JSON object; - reads standard input")
      ->type_name("JSON");
  syntax.add_option("--ask", options->wants, "Ask for permission, naming what it needs")
      ->check(one_of<Capability>())
      ->delimiter(',')
      ->type_name("");
  return [options](Invocation& call) {
    RunCalls calls = runs_of(call).calls();
    const RunId run = resolve_run(call, options->run).id;
    std::vector<Capability> wants;
    for (const std::string& word : options->wants) {
      wants.push_back(from_word<Capability>(word).value_or(Capability::external_side_effect));
    }
    const NewCall wanted{.id = CallId(options->call),
                         .tool_name = line_argument(call, options->tool, "the tool"),
                         .arguments = text_argument(call, options->arguments, "the arguments")};
    call.store().transaction([&] {
      calls.request(run, wanted);
      if (!wants.empty()) calls.request_approval(run, wanted.id, wants);
    });
    print_call(call, calls.get(run, wanted.id));
  };
}

Action declare_run_begin(Syntax& syntax) {
  auto options = std::make_shared<CallOptions>();
  add_call(syntax, *options);
  return [options](Invocation& call) {
    const RunId run = resolve_run(call, options->run).id;
    print_call(call, runs_of(call).calls().start(run, CallId(options->call)));
  };
}

Action declare_run_end(Syntax& syntax) {
  auto options = std::make_shared<CallOptions>();
  add_call(syntax, *options);
  auto* result = syntax.add_option("--result", options->result, "What it gave, as JSON");
  result->type_name("JSON");
  syntax.add_option("--error", options->error, "Why it failed")
      ->type_name("TEXT")
      ->excludes(result);
  return [options](Invocation& call) {
    const RunId run = resolve_run(call, options->run).id;
    const CallOutcome outcome =
        options->error ? CallOutcome::failed(text_argument(call, *options->error, "the error"))
                       : CallOutcome::completed(
                             text_argument(call, options->result.value_or("null"), "the result"));
    print_call(call, runs_of(call).calls().finish(run, CallId(options->call), outcome));
  };
}

Action declare_run_finish(Syntax& syntax) {
  auto options = std::make_shared<FinishOptions>();
  add_run(syntax, options->run);
  Option* output =
      syntax.add_option("--output", options->output, "Completed, with that answer; - reads stdin");
  Option* error = syntax.add_option("--error", options->error, "Failed, for that reason");
  Option* ask = syntax.add_option("--ask", options->ask, "Waits for the user to answer that");
  Option* blocked = syntax.add_option("--blocked", options->blocked, "Waits for that");
  for (Option* end : {output, error, ask, blocked}) end->type_name("TEXT");
  syntax.require_one({output, error, ask, blocked});
  return [options](Invocation& call) {
    const RunId run = resolve_run(call, options->run).id;
    RunEnd end;
    if (options->output) {
      end = RunEnd::completed(text_argument(call, *options->output, "the output"));
    } else if (options->error) {
      end =
          RunEnd::failed(text_argument(call, *options->error, "the error"), RunReason::tool_error);
    } else if (options->ask) {
      end = RunEnd::needs_user_input(RunReason::information_required,
                                     text_argument(call, *options->ask, "the question"));
    } else {
      end = RunEnd::blocked(RunReason::external_dependency,
                            text_argument(call, *options->blocked, "the message"));
    }
    print_run(call, runs_of(call).finish(run, end));
  };
}

}  // namespace threadstore::cli
