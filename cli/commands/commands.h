#pragma once

#include <span>

#include "cli/app/command.h"
#include "threadstore/ids.h"

namespace threadstore::cli {

// One function per verb: it adds the verb's options to the app and returns the action. A noun gives
// the table of its verbs instead (`index_verbs`).

Action declare_append(CLI::App& app);
Action declare_approvals(CLI::App& app);
Action declare_archive(CLI::App& app);
Action declare_backup(CLI::App& app);
Action declare_branch(CLI::App& app);
Action declare_chat(CLI::App& app);
Action declare_clear(CLI::App& app);
Action declare_completion(CLI::App& app);
Action declare_delete(CLI::App& app);
Action declare_doctor(CLI::App& app);
Action declare_export(CLI::App& app);
Action declare_fork(CLI::App& app);
Action declare_import(CLI::App& app);
Action declare_leaves(CLI::App& app);
Action declare_list(CLI::App& app);
Action declare_new(CLI::App& app);
Action declare_paths(CLI::App& app);
Action declare_rename(CLI::App& app);
Action declare_restore(CLI::App& app);
Action declare_resume(CLI::App& app);
Action declare_salvage(CLI::App& app);
Action declare_search(CLI::App& app);
Action declare_show(CLI::App& app);
Action declare_stats(CLI::App& app);
Action declare_switch(CLI::App& app);
Action declare_tree(CLI::App& app);
Action declare_unarchive(CLI::App& app);
Action declare_watch(CLI::App& app);

std::span<const Command> checkpoint_verbs();
std::span<const Command> goal_verbs();
std::span<const Command> index_verbs();
std::span<const Command> job_verbs();
std::span<const Command> run_verbs();
std::span<const Command> tools_verbs();
std::span<const Command> workflow_verbs();

/// Goes on with a thread as `chat THREAD` does: what `resume` does on a terminal.
void continue_thread(Invocation& call, const ThreadId& thread);

}  // namespace threadstore::cli
