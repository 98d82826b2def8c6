#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/chat/signals.h"
#include "threadstore/messages.h"
#include "threadstore/threads.h"

namespace threadstore::cli {

/// A thread and its branch, oldest message first.
struct Conversation {
  Thread thread;
  std::vector<Message> messages;
};

/// What an answer is given to. The whole conversation is only read for those who ask.
struct Question {
  std::string words{};
  std::function<Conversation()> conversation{};
};

struct Reply {
  std::string text{};                ///< valid UTF-8
  std::optional<int> exit_status{};  ///< when it is not 0: 128 + N for a command ended by signal N
  bool interrupted = false;          ///< Ctrl-C ended it
  std::size_t replaced = 0;          ///< sequences of the output that were no UTF-8
  bool too_long = false;             ///< ended because the output passed the limit
};

/// Answers the user's messages.
class Responder {
 public:
  virtual ~Responder() = default;

  /// `show` gets the answer's bytes as they come.
  virtual Reply respond(const Question& question,
                        const std::function<void(std::string_view)>& show) = 0;
};

/// Repeats what was said, and says that it only does that.
std::unique_ptr<Responder> echo_responder();

/// Runs `sh -c command` per message in a process group of its own: the conversation on its standard
/// input as one JSON document, `THREADSTORE_THREAD_ID` in its environment, its standard output the
/// answer. Ctrl-C sends the group SIGINT, the next one SIGKILL.
std::unique_ptr<Responder> command_responder(std::string command, Signals& signals);

}  // namespace threadstore::cli
