#include "cli/chat/chat.h"

#include <utility>

#include "cli/app/exit_code.h"
#include "cli/chat/slash_commands.h"
#include "cli/chat/turn_record.h"
#include "cli/chat/work_commands.h"
#include "cli/output/thread_table.h"
#include "cli/resolve/text_argument.h"
#include "cli/terminal/text.h"
#include "threadstore/version.h"

namespace threadstore::cli {
namespace {

// An answer on its way to the screen: escaped for a terminal, as it is for a script.
class ReplyScreen {
 public:
  explicit ReplyScreen(Dialogue& dialogue) : dialogue_(dialogue) {}

  void show(std::string_view piece) {
    put(dialogue_.interactive() ? stream_.feed(piece) : std::string(piece));
  }

  // Ends the last line, so that what follows stands on its own.
  void finish() {
    if (dialogue_.interactive()) put(stream_.finish());
    if (last_ != '\n') dialogue_.out() << '\n';
    dialogue_.out().flush();
  }

 private:
  void put(std::string_view text) {
    if (text.empty()) return;
    dialogue_.out() << text << std::flush;
    last_ = text.back();
  }

  Dialogue& dialogue_;
  EscapedStream stream_;
  char last_ = '\n';
};

bool blank(const std::string& text) { return text.find_first_not_of(" \t\n") == text.npos; }

}  // namespace

Chat::Chat(Invocation& call, StateStore store, ChatRequest request)
    : request_(std::move(request)),
      store_(std::move(store)),
      dialogue_(call),
      session_(store_, {.name = request_.name,
                        .cwd = request_.cwd,
                        .cli_version = std::string(version()),
                        .ephemeral = request_.ephemeral}),
      entrance_(dialogue_, store_, session_, request_.on_busy),
      keeper_(dialogue_, store_, session_),
      responder_(request_.command ? command_responder(*request_.command, dialogue_.signals())
                                  : echo_responder()) {}

void Chat::run() {
  welcome();
  if (request_.thread) {
    if (!enter(*request_.thread)) return;
    if (request_.name) session_.rename(*request_.name);
  }
  while (!done_) {
    const Input input = dialogue_.read(prompt());
    if (input.kind == Input::Kind::end) break;
    if (input.kind == Input::Kind::interrupted) {
      if (dialogue_.interactive()) continue;
      dialogue_.call().set_exit_code(exit_interrupted);
      break;
    }
    if (blank(input.text)) continue;
    take(input.text);
  }
  farewell();
  session_.close();
}

void Chat::welcome() {
  if (!request_.command) {
    dialogue_.aside("No --exec: the built-in echo answers, enough to try the store.");
  }
  if (request_.ephemeral) dialogue_.aside("Ephemeral: nothing of this reaches the disk.");
  if (dialogue_.interactive()) dialogue_.aside("/help lists the commands, Ctrl-D quits.");
}

std::string Chat::prompt() {
  if (!dialogue_.interactive()) return {};
  return cut_to_width(escape_for_terminal(session_.name().value_or("")), 30) + prompt_marks(*this) +
         "> ";
}

void Chat::take(const std::string& bytes) {
  const std::string text = valid_text(dialogue_.call(), bytes, "the line");
  dialogue_.remember(text);
  const bool command = text.starts_with('/') && !text.starts_with("//");
  try {
    if (command) {
      run_slash_command(*this, text);
    } else {
      converse(text.starts_with("//") ? text.substr(1) : text);
    }
  } catch (const Error& error) {
    // A script learns from the exit code that a message was not stored; a person can go on.
    if (!command && !dialogue_.interactive()) throw;
    dialogue_.warn(error.what());
  }
  dialogue_.out().flush();
}

void Chat::converse(const std::string& words) {
  // Durable before anything answers.
  if (!keeper_.keep({.role = "user", .content = words})) return;
  answer(words);
}

void Chat::answer(const std::string& words) {
  if (dialogue_.interactive()) {
    dialogue_.out() << dialogue_.style().paint(Tone::assistant, "assistant") << ' '
                    << dialogue_.style().paint(Tone::faint,
                                               "to #" + std::to_string(to_int(*session_.leaf())))
                    << std::endl;
  }
  TurnRecord record(dialogue_, store_, request_.command.value_or(""));
  if (!request_.ephemeral) record.begin(session_.id(), *session_.leaf(), words);
  ReplyScreen screen(dialogue_);
  const Reply reply =
      responder_->respond({.words = words, .conversation = [&] { return session_.conversation(); }},
                          [&](std::string_view piece) { screen.show(piece); });
  screen.finish();
  report(reply);
  if (reply.text.empty()) return record.finish(reply, std::nullopt);
  NewMessage message{.role = "assistant", .content = reply.text};
  if (reply.exit_status) {
    message.item = R"({"exit_status":)" + std::to_string(*reply.exit_status) + "}";
  }
  const std::optional<Stored> stored =
      keeper_.keep(message, [&](MessageId id) { record.finish(reply, id); });
  if (!stored) return record.finish(reply, std::nullopt);  // the user dropped the words
  if (dialogue_.interactive()) {
    dialogue_.out() << dialogue_.style().paint(Tone::faint,
                                               "#" + std::to_string(to_int(stored->id)))
                    << "\n\n";
  }
}

void Chat::report(const Reply& reply) {
  if (reply.replaced > 0) {
    dialogue_.warn(std::to_string(reply.replaced) +
                   " sequences of the answer were not UTF-8; U+FFFD stands for them.");
  }
  if (reply.too_long) dialogue_.warn("The command was ended: its output passed 100 MiB.");
  const std::string kept = reply.text.empty() ? " Its output was empty: no answer is stored."
                                              : " What it printed is stored with that status.";
  if (reply.exit_status) {
    dialogue_.warn(std::string(reply.interrupted ? "The command was interrupted: exit status "
                                                 : "The command failed with exit status ") +
                   std::to_string(*reply.exit_status) + "." + kept + " /retry asks again.");
  } else if (reply.text.empty()) {
    dialogue_.warn("The command printed nothing: no answer is stored. /retry asks again.");
  }
}

void Chat::farewell() {
  if (!session_.has_thread() || request_.ephemeral) return;
  const std::string id = session_.id().str();
  dialogue_.aside(dialogue_.interactive()
                      ? "Kept as " + id + ". Go on: threadstore resume " + short_id(session_.id())
                      : "kept as " + id);
}

}  // namespace threadstore::cli
