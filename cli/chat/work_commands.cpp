#include "cli/chat/work_commands.h"

#include <algorithm>

#include "cli/chat/chat.h"
#include "cli/output/goal_text.h"

namespace threadstore::cli {
namespace {

ThreadId thread_of(Chat& chat) {
  if (chat.session().has_thread()) return chat.session().id();
  throw Error(ErrorCode::not_found, "There is no message yet: the thread begins with the first.");
}

void show_goal(Chat& chat, const Goal& goal) {
  chat.dialogue().out() << goal_text(goal, chat.dialogue().style());
}

}  // namespace

void save_checkpoint(Chat& chat, const std::string& name) {
  chat.store().checkpoints().save(thread_of(chat), {.id = CheckpointId(name)});
  chat.dialogue().aside("Kept as checkpoint " + name + ". /restore " + name + " comes back here.");
}

void restore_checkpoint(Chat& chat, const std::string& name) {
  thread_of(chat);
  const auto leaf = chat.session().restore(CheckpointId(name)).leaf_id;
  const std::string where = leaf ? "the branch ends at #" + std::to_string(to_int(*leaf))
                                 : std::string("the next line begins anew");
  chat.dialogue().aside("Back at checkpoint " + name + ": " + where +
                        ". Nothing is deleted: /tree shows it.");
}

void work_on_goal(Chat& chat, const std::string& argument) {
  Goals goals = chat.store().goals();
  const ThreadId thread = thread_of(chat);
  const std::size_t end = std::min(argument.find(' '), argument.size());
  const std::string verb = argument.substr(0, end);
  const std::string rest =
      argument.substr(std::min(argument.find_first_not_of(' ', end), argument.size()));
  if (verb.empty()) return show_goal(chat, goals.get(thread));
  if (verb == "set" && !rest.empty()) {
    return show_goal(chat, goals.set(thread, {.objective = rest}));
  }
  if (verb == "budget" && !rest.empty()) {
    return show_goal(chat, goals.set_token_budget(thread, parse_budget(rest)));
  }
  if (rest.empty() && verb == "pause") return show_goal(chat, goals.pause(thread));
  if (rest.empty() && verb == "resume") return show_goal(chat, goals.resume(thread));
  if (rest.empty() && verb == "complete") {
    return show_goal(chat, goals.set_status(thread, GoalStatus::complete));
  }
  if (rest.empty() && verb == "clear") {
    return chat.dialogue().aside(goals.remove(thread) ? "The goal is cleared."
                                                      : "There was no goal.");
  }
  throw Error(ErrorCode::invalid_argument,
              "It is used like this: /goal, /goal set OBJECTIVE, /goal budget N or none, "
              "/goal pause, resume, complete or clear");
}

std::string prompt_marks(Chat& chat) {
  if (!chat.session().has_thread()) return {};
  std::string marks;
  if (!chat.ephemeral()) marks = chat.session().holds_lease() ? "held" : "beside";
  // A damaged goal must not keep anybody from talking: /goal says what is wrong.
  std::string goal;
  try {
    if (const auto found = chat.store().goals().find(chat.session().id())) {
      goal = "goal " + shown_status(*found) + ", " + tokens_text(*found) + " tokens";
    }
  } catch (const Error&) {
    goal = "goal damaged";
  }
  if (!marks.empty() && !goal.empty()) marks += "; ";
  marks += goal;
  return marks.empty() ? marks : " [" + marks + "]";
}

}  // namespace threadstore::cli
