#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <optional>
#include <string>

#include "cli/app/command.h"
#include "cli/app/invocation.h"
#include "cli/output/run_json.h"
#include "cli/output/run_story.h"
#include "cli/resolve/run_ref.h"

namespace threadstore::cli {

/// Declares the positional argument RUN.
inline CLI::Option* add_run(CLI::App& app, std::string& run) {
  return app.add_option("run", run, "An id, a part of an id, or @last")
      ->type_name("RUN")
      ->required();
}

/// Declares the limits of a run.
void add_budgets(CLI::App& app, RunBudgets& budgets);

/// What the commands that change a run say.
void print_run(Invocation& call, const Run& run);

/// Who decides, when `--by` does not say: the user's login name.
std::string decider(const std::optional<std::string>& given);

// The verbs of `run`, by what they are about.
Action declare_run_append(CLI::App& app);
Action declare_run_request(CLI::App& app);
Action declare_run_begin(CLI::App& app);
Action declare_run_end(CLI::App& app);
Action declare_run_finish(CLI::App& app);
Action declare_run_events(CLI::App& app);
Action declare_run_tail(CLI::App& app);
Action declare_run_steps(CLI::App& app);
Action declare_run_commit(CLI::App& app);
Action declare_run_resume(CLI::App& app);
Action declare_run_spawn(CLI::App& app);
Action declare_run_trace(CLI::App& app);
Action declare_run_tree(CLI::App& app);
Action declare_run_usage(CLI::App& app);
Action declare_run_ask(CLI::App& app);
Action declare_run_approvals(CLI::App& app);
Action declare_run_approve(CLI::App& app);
Action declare_run_deny(CLI::App& app);
Action declare_run_answer(CLI::App& app);
Action declare_run_continue(CLI::App& app);
Action declare_run_reopen(CLI::App& app);
Action declare_run_cancel(CLI::App& app);
Action declare_run_raise(CLI::App& app);
Action declare_run_checkpoint(CLI::App& app);
Action declare_run_artifacts(CLI::App& app);
Action declare_run_verify(CLI::App& app);
Action declare_run_rebuild(CLI::App& app);

}  // namespace threadstore::cli
