#include <algorithm>
#include <array>

#include "cli/app/command.h"
#include "cli/commands/commands.h"

namespace threadstore::cli {
namespace {

// A new command: its function in a file under cli/commands, declared in commands.h, and a line
// here.
constexpr std::array kThreads{
    verb("chat", Access::reading, declare_chat, "Talk; every word is kept in a thread",
         "chat --name 'parser rewrite' --exec ./answer.sh"),
    verb("new", Access::writing, declare_new, "Make a thread and print its id",
         "new --name 'parser rewrite'"),
    verb("list", Access::reading, declare_list, "List threads, most recently active first",
         "list --here --since 3d"),
    verb("show", Access::reading, declare_show, "Print the active branch as a conversation",
         "show @last --limit 20"),
    verb("tree", Access::reading, declare_tree, "Draw all branches, the current leaf marked",
         "tree @last"),
    verb("resume", Access::reading, declare_resume, "Continue this directory's last thread",
         "resume --any-dir"),
    verb("fork", Access::writing, declare_fork, "Make a new thread with a thread's history",
         "fork @last --at @-2 --name 'another way'"),
    verb("rename", Access::writing, declare_rename, "Give a thread another name",
         "rename @last 'parser rewrite'"),
    verb("archive", Access::writing, declare_archive, "Take a thread out of the list",
         "archive 'parser rewrite'"),
    verb("unarchive", Access::writing, declare_unarchive, "Put a thread back into the list",
         "unarchive 'parser rewrite'"),
    verb("delete", Access::writing, declare_delete, "Delete a thread with all that belongs to it",
         "delete 'parser rewrite'"),
};

constexpr std::array kMessages{
    verb("search", Access::reading, declare_search, "Find messages of all threads by their text",
         "search 'parser AND \"syntax error\"' --since 2w"),
    verb("append", Access::writing, declare_append, "Store a message and print its id",
         "append @last --role user --content 'Hello'"),
    verb("branch", Access::writing, declare_branch, "Store a message under an earlier one",
         "branch @last @-1 --role user --content 'Another question'"),
    verb("switch", Access::writing, declare_switch, "Go on from another branch", "switch @last 17"),
    verb("leaves", Access::reading, declare_leaves, "Show where each branch ends", "leaves @last"),
    verb("clear", Access::writing, declare_clear, "Delete all messages of a thread",
         "clear 'parser rewrite' --yes"),
    verb("watch", Access::reading, declare_watch, "Print new messages of any process as they come",
         "watch --json"),
};

constexpr std::array kWork{
    noun("checkpoint", checkpoint_verbs, "Named snapshots of a thread, and the way back to them"),
    noun("goal", goal_verbs, "What a thread works towards on its own"),
    noun("tools", tools_verbs, "The tools that a thread's model may call"),
    noun("job", job_verbs, "A queue of work for any number of processes"),
    noun("workflow", workflow_verbs, "The trace of workflow runs"),
    noun("run", run_verbs, "What agents did, decided and used"),
    verb("approvals", Access::reading, declare_approvals,
         "List what the runs of a workspace wait for", "approvals"),
};

constexpr std::array kStore{
    with_verbs(
        verb("import", Access::reading, declare_import, "Take in the histories of other programs",
             "import ~/.codex ~/.claude/projects --dry-run"),
        import_verbs),
    noun("index", index_verbs, "The session index: names without opening the database"),
    verb("doctor", Access::reading, declare_doctor, "Check the store; mend what is safe to mend",
         "doctor --repair"),
    verb("export", Access::reading, declare_export, "Write threads as pages, text or sessions",
         "export @last --format html --output talk.html"),
    verb("backup", Access::reading, declare_backup, "Copy the store while others write to it",
         "backup ~/threadstore.bak"),
    verb("restore", Access::nothing, declare_restore, "Put a backup in the store's place",
         "restore ~/threadstore.bak"),
    verb("salvage", Access::nothing, declare_salvage, "Get what is readable of a damaged store",
         "salvage ~/.codewhale/state.db rescued.db"),
    verb("stats", Access::reading, declare_stats, "Count what the store holds", "stats --json"),
    verb("paths", Access::nothing, declare_paths, "Show where the store's files live",
         "paths --json"),
    verb("completion", Access::nothing, declare_completion, "Print a completion script",
         "completion bash >> ~/.bashrc"),
};

constexpr std::array kSections{
    CommandSection{"Threads", kThreads},
    CommandSection{"Messages", kMessages},
    CommandSection{"Work", kWork},
    CommandSection{"Store", kStore},
};

}  // namespace

std::span<const CommandSection> command_sections() { return kSections; }

const Command* find_command(std::span<const Command> commands, std::string_view name) {
  const auto found = std::find_if(commands.begin(), commands.end(),
                                  [&](const Command& command) { return command.name == name; });
  return found == commands.end() ? nullptr : &*found;
}

const Command* find_verb(const Command& command, std::string_view name) {
  return command.verbs == nullptr ? nullptr : find_command(command.verbs(), name);
}

const Command* find_command(std::string_view name) {
  for (const CommandSection& section : command_sections()) {
    if (const Command* found = find_command(section.commands, name)) return found;
  }
  return nullptr;
}

}  // namespace threadstore::cli
