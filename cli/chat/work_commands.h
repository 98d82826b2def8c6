#pragma once

#include <string>

namespace threadstore::cli {

class Chat;

// The slash commands on what a thread has beside its messages.
void save_checkpoint(Chat& chat, const std::string& name);
void restore_checkpoint(Chat& chat, const std::string& name);
/// Shows the goal without an argument; else "set OBJECTIVE", "budget N", "pause", "resume",
/// "complete" or "clear".
void work_on_goal(Chat& chat, const std::string& argument);

/// What the prompt says of the thread: "held" or "beside" (its lease), and the goal.
std::string prompt_marks(Chat& chat);

}  // namespace threadstore::cli
