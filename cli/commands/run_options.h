#pragma once

#include <array>
#include <optional>
#include <string>

#include "cli/app/command.h"
#include "cli/app/invocation.h"
#include "cli/app/syntax.h"
#include "cli/output/run_json.h"
#include "cli/output/run_story.h"
#include "cli/resolve/run_ref.h"

namespace threadstore::cli {

/// Declares the positional argument RUN.
inline Option* add_run(Syntax& syntax, std::string& run) {
  return syntax.add_option("run", run, "An id, a part of an id, or @last")
      ->type_name("RUN")
      ->required();
}

/// Declares the limits of a run.
void add_budgets(Syntax& syntax, RunBudgets& budgets);

/// What the commands that change a run say.
void print_run(Invocation& call, const Run& run);

/// Who decides, when `--by` does not say: the user's login name.
std::string decider(const std::optional<std::string>& given);

// The verbs of `run`, by what they are about.
Action declare_run_append(Syntax& syntax);
Action declare_run_request(Syntax& syntax);
Action declare_run_begin(Syntax& syntax);
Action declare_run_end(Syntax& syntax);
Action declare_run_finish(Syntax& syntax);
Action declare_run_events(Syntax& syntax);
Action declare_run_tail(Syntax& syntax);
Action declare_run_steps(Syntax& syntax);
Action declare_run_commit(Syntax& syntax);
Action declare_run_resume(Syntax& syntax);
Action declare_run_spawn(Syntax& syntax);
Action declare_run_trace(Syntax& syntax);
Action declare_run_tree(Syntax& syntax);
Action declare_run_usage(Syntax& syntax);
Action declare_run_ask(Syntax& syntax);
Action declare_run_approvals(Syntax& syntax);
Action declare_run_approve(Syntax& syntax);
Action declare_run_deny(Syntax& syntax);
Action declare_run_answer(Syntax& syntax);
Action declare_run_continue(Syntax& syntax);
Action declare_run_reopen(Syntax& syntax);
Action declare_run_cancel(Syntax& syntax);
Action declare_run_raise(Syntax& syntax);
Action declare_run_checkpoint(Syntax& syntax);
Action declare_run_artifacts(Syntax& syntax);
Action declare_run_verify(Syntax& syntax);
Action declare_run_rebuild(Syntax& syntax);

}  // namespace threadstore::cli
