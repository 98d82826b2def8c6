#include "cli/chat/slash_commands.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/chat/chat.h"
#include "cli/chat/work_commands.h"
#include "cli/output/thread_table.h"
#include "cli/resolve/thread_ref.h"
#include "cli/terminal/conversation.h"
#include "cli/terminal/text.h"
#include "cli/terminal/tree.h"

namespace threadstore::cli {
namespace {

/// A line of the table: its name without the slash, the shape of its argument for the help
/// ("[ID]" may be absent, "NAME" may not, "" takes none), and what it does.
struct SlashCommand {
  std::string_view name;
  std::string_view argument;
  std::string_view summary;
  void (*run)(Chat& chat, const std::string& argument);
};

std::string number(MessageId id) { return "#" + std::to_string(to_int(id)); }

void require_thread(Chat& chat) {
  if (chat.session().has_thread()) return;
  throw Error(ErrorCode::not_found, "There is no message yet: the thread begins with the first.");
}

MessageId message_id(std::string_view text) {
  if (text.starts_with('#')) text.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value <= 0) {
    throw Error(ErrorCode::invalid_argument,
                "'" + std::string(text) + "' is no message id; /tree shows them.");
  }
  return MessageId{value};
}

void show_tree(Chat& chat, const std::string&) {
  require_thread(chat);
  print_tree(chat.dialogue().out(), chat.store().messages().tree(chat.session().id()),
             chat.dialogue().look());
}

void show_branch(Chat& chat, const std::string&) {
  require_thread(chat);
  constexpr std::size_t most = 500;
  const BranchPage page = chat.session().last_messages(most);
  if (page.more) {
    chat.dialogue().aside("The last " + std::to_string(most) +
                          " messages; all of them: threadstore "
                          "show " +
                          chat.session().id().str());
  }
  print_conversation(chat.dialogue().out(), page.messages, chat.dialogue().look());
}

void fork(Chat& chat, const std::string& argument) {
  require_thread(chat);
  ConversationSession& session = chat.session();
  std::optional<MessageId> at = session.leaf();
  if (!argument.empty()) at = message_id(argument);
  const std::string source = session.id().str();
  session.open_fork(ThreadId(source), at);
  chat.dialogue().aside("Forked from " + source + (at ? " at " + number(*at) : "") +
                        ". This is now thread " + session.id().str() + ".");
}

void switch_branch(Chat& chat, const std::string& argument) {
  require_thread(chat);
  const MessageId target = message_id(argument);
  const Message message = chat.store().messages().get(chat.session().id(), target);
  chat.session().switch_to(target);
  chat.dialogue().aside("The active branch ends here now:");
  print_message(chat.dialogue().out(), message, chat.dialogue().look());
}

// Before the last thing that the user said on this branch.
void go_back(Chat& chat, const std::string&) {
  require_thread(chat);
  ConversationSession& session = chat.session();
  std::optional<Message> said;
  if (session.leaf()) {
    chat.store().messages().walk(session.id(), session.leaf(), [&](const Message& message) {
      if (message.role == "user") said = message;
      return !said;
    });
  }
  if (!said) throw Error(ErrorCode::not_found, "There is nothing to go back to.");
  session.switch_to(said->parent_entry_id);
  chat.dialogue().remember(said->content);
  chat.dialogue().aside("Back before " + number(said->id) +
                        (said->parent_entry_id
                             ? "; the branch ends at " + number(*said->parent_entry_id) + "."
                             : "; the next line begins anew.") +
                        " Nothing is deleted: /tree shows it.");
}

void retry(Chat& chat, const std::string&) {
  require_thread(chat);
  const BranchPage page = chat.session().last_messages(1);
  if (page.messages.empty() || page.messages.back().role != "user") {
    throw Error(ErrorCode::conflict,
                "The last message is not yours: /back goes before it, then say it again.");
  }
  chat.answer(page.messages.back().content);
}

void rename(Chat& chat, const std::string& name) {
  chat.session().rename(name);
  chat.dialogue().aside("This thread is called " + name + " now.");
}

void list_threads(Chat& chat, const std::string&) {
  print_threads(chat.dialogue().call(), chat.store().threads().list({.limit = 20}).items, true);
}

void resume(Chat& chat, const std::string& argument) {
  const Thread thread = find_thread(chat.store(), argument);
  if (chat.session().has_thread() && chat.session().id() == thread.id) {
    return chat.dialogue().aside("This is that thread.");
  }
  if (!chat.enter(thread.id)) chat.dialogue().aside("Staying where we were.");
}

void start_new(Chat& chat, const std::string&) {
  chat.session().close();
  chat.dialogue().aside("The next line begins a new thread.");
}

void show_help(Chat& chat, const std::string&);
void quit(Chat& chat, const std::string&) { chat.quit(); }

// A new command: its function above and a line here.
constexpr std::array table{
    SlashCommand{"show", "", "show this conversation with its message ids", show_branch},
    SlashCommand{"tree", "", "draw all branches of this thread", show_tree},
    SlashCommand{"back", "", "go before the last thing you said", go_back},
    SlashCommand{"retry", "", "ask again for an answer to your last message", retry},
    SlashCommand{"switch", "ID", "go to another message; the next line goes below it",
                 switch_branch},
    SlashCommand{"fork", "[ID]", "go on in a new thread with this history, up to a message", fork},
    SlashCommand{"checkpoint", "NAME", "remember this point under a name", save_checkpoint},
    SlashCommand{"restore", "NAME", "come back to a checkpoint", restore_checkpoint},
    SlashCommand{"goal", "[…]",
                 "show the goal; set OBJECTIVE, budget N, pause, resume, complete, clear",
                 work_on_goal},
    SlashCommand{"name", "NAME", "name this thread", rename},
    SlashCommand{"list", "", "list recent threads", list_threads},
    SlashCommand{"resume", "THREAD", "go on in another thread", resume},
    SlashCommand{"new", "", "begin a new thread with the next line", start_new},
    SlashCommand{"help", "", "this list", show_help},
    SlashCommand{"quit", "", "end the chat (as Ctrl-D does)", quit},
};

void show_help(Chat& chat, const std::string&) {
  std::ostream& out = chat.dialogue().out();
  for (const SlashCommand& command : table) {
    const std::string usage = "/" + std::string(command.name) + " " + std::string(command.argument);
    out << pad_to_width(usage, 16) << ' ' << command.summary << '\n';
  }
  out << pad_to_width("//TEXT", 16) << " send a line that begins with a slash\n";
  if (!chat.dialogue().interactive()) return;
  out << "Alt-Enter breaks the line, Ctrl-R searches what you said, Ctrl-C clears the line or\n"
         "interrupts the answer (twice: kills it), Ctrl-D quits.\n";
}

// Letters to insert, delete or replace to make one word of the other.
std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  for (std::size_t at = 0; at < row.size(); ++at) row[at] = at;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i - 1] == to[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

std::string unknown(const std::string& word) {
  std::string text = "There is no command /" + word;
  const SlashCommand* nearest = nullptr;
  std::size_t distance = 3;  // farther away is no typing mistake
  for (const SlashCommand& command : table) {
    const std::size_t here = command.name.starts_with(word) ? 0 : edit_distance(word, command.name);
    if (here < distance && here < command.name.size()) {
      distance = here;
      nearest = &command;
    }
  }
  if (nearest != nullptr) text += "; do you mean /" + std::string(nearest->name) + "?";
  return text + (nearest != nullptr ? " " : ". ") +
         "/help lists them. To send the line as it is, begin it with two slashes.";
}

}  // namespace

void run_slash_command(Chat& chat, const std::string& line) {
  const std::size_t end = std::min(line.find_first_of(" \t\n"), line.size());
  const std::string word = line.substr(1, end - 1);
  const std::size_t start = line.find_first_not_of(" \t\n", end);
  std::string argument = start == std::string::npos ? "" : line.substr(start);
  argument.erase(argument.find_last_not_of(" \t\n") + 1);
  const auto command = std::find_if(table.begin(), table.end(),
                                    [&](const SlashCommand& entry) { return entry.name == word; });
  if (command == table.end()) throw Error(ErrorCode::invalid_argument, unknown(word));
  const bool missing =
      argument.empty() && !command->argument.empty() && !command->argument.starts_with('[');
  if (missing || (command->argument.empty() && !argument.empty())) {
    throw Error(ErrorCode::invalid_argument, "It is used like this: /" + word +
                                                 (command->argument.empty() ? "" : " ") +
                                                 std::string(command->argument));
  }
  command->run(chat, argument);
}

}  // namespace threadstore::cli
