#pragma once

#include <span>

#include "cli/app/command.h"
#include "threadstore/ids.h"

namespace threadstore::cli {

// One function per verb: it adds the verb's options to its syntax and returns the action. A noun
// gives the table of its verbs instead (`index_verbs`).

Action declare_append(Syntax& syntax);
Action declare_approvals(Syntax& syntax);
Action declare_archive(Syntax& syntax);
Action declare_backup(Syntax& syntax);
Action declare_branch(Syntax& syntax);
Action declare_chat(Syntax& syntax);
Action declare_clear(Syntax& syntax);
Action declare_completion(Syntax& syntax);
Action declare_delete(Syntax& syntax);
Action declare_doctor(Syntax& syntax);
Action declare_export(Syntax& syntax);
Action declare_fork(Syntax& syntax);
Action declare_import(Syntax& syntax);
Action declare_leaves(Syntax& syntax);
Action declare_list(Syntax& syntax);
Action declare_new(Syntax& syntax);
Action declare_paths(Syntax& syntax);
Action declare_rename(Syntax& syntax);
Action declare_restore(Syntax& syntax);
Action declare_resume(Syntax& syntax);
Action declare_salvage(Syntax& syntax);
Action declare_search(Syntax& syntax);
Action declare_show(Syntax& syntax);
Action declare_stats(Syntax& syntax);
Action declare_switch(Syntax& syntax);
Action declare_tree(Syntax& syntax);
Action declare_unarchive(Syntax& syntax);
Action declare_watch(Syntax& syntax);

std::span<const Command> checkpoint_verbs();
std::span<const Command> goal_verbs();
std::span<const Command> import_verbs();
std::span<const Command> index_verbs();
std::span<const Command> job_verbs();
std::span<const Command> run_verbs();
std::span<const Command> tools_verbs();
std::span<const Command> workflow_verbs();

/// Goes on with a thread as `chat THREAD` does: what `resume` does on a terminal.
void continue_thread(Invocation& call, const ThreadId& thread);

}  // namespace threadstore::cli
